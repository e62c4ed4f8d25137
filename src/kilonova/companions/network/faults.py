"""The refusals of the network API. Each has the name that clients of the community's service know it by; that name goes out as
`type`. Source: the network API's published errors.
"""

from kilonova.domain.errors import BadRequest, Conflict, Forbidden, NotFound


class InvalidInput(BadRequest):
    """A value cannot be right."""

    code = "InvalidInput"


class NotOwner(Forbidden):
    """The resource is visible, but not the caller's to change."""

    code = "PolicyNotAuthorized"


class NetworkNotFound(NotFound):
    """No such network for this caller."""

    code = "NetworkNotFound"


class SubnetNotFound(NotFound):
    """No such subnet for this caller."""

    code = "SubnetNotFound"


class PortNotFound(NotFound):
    """No such port for this caller."""

    code = "PortNotFound"


class SecurityGroupNotFound(NotFound):
    """No such security group for this caller."""

    code = "SecurityGroupNotFound"


class SecurityGroupRuleNotFound(NotFound):
    """No such rule for this caller."""

    code = "SecurityGroupRuleNotFound"


class ExtensionNotFound(NotFound):
    """The extension is not served."""

    code = "ExtensionNotFound"


class TagNotFound(NotFound):
    """The resource does not have this tag."""

    code = "TagNotFound"


class NetworkInUse(Conflict):
    """A network with ports cannot be removed."""

    code = "NetworkInUse"


class SubnetInUse(Conflict):
    """A subnet with addresses of ports cannot be removed."""

    code = "SubnetInUse"


class InvalidIpForNetwork(BadRequest):
    """No subnet of the network has the address."""

    code = "InvalidIpForNetwork"


class InvalidIpForSubnet(BadRequest):
    """The address is not one of the subnet's."""

    code = "InvalidIpForSubnet"


class InvalidAllocationPool(BadRequest):
    """A pool does not begin before it ends."""

    code = "InvalidAllocationPool"


class OutOfBoundsAllocationPool(BadRequest):
    """A pool leaves its subnet."""

    code = "OutOfBoundsAllocationPool"


class OverlappingAllocationPools(Conflict):
    """Two pools of a subnet share addresses."""

    code = "OverlappingAllocationPools"


class GatewayConflictWithAllocationPools(Conflict):
    """The gateway would be given to a port."""

    code = "GatewayConflictWithAllocationPools"


class IpAddressAlreadyAllocated(Conflict):
    """Another port has the address."""

    code = "IpAddressAlreadyAllocated"


class IpAddressGenerationFailure(Conflict):
    """A network has no address left."""

    code = "IpAddressGenerationFailure"


class MacAddressInUse(Conflict):
    """Another port of the network has the hardware address."""

    code = "MacAddressInUse"


class MacAddressGenerationFailure(Conflict):
    """No free hardware address was found."""

    code = "MacAddressGenerationFailure"


class PortInUse(Conflict):
    """The port belongs to another device."""

    code = "PortInUse"


class SecurityGroupInUse(Conflict):
    """A group with ports cannot be removed."""

    code = "SecurityGroupInUse"


class SecurityGroupDefaultAlreadyExists(Conflict):
    """Every project has its one default group already."""

    code = "SecurityGroupDefaultAlreadyExists"


class SecurityGroupCannotRemoveDefault(Conflict):
    """The default group stays."""

    code = "SecurityGroupCannotRemoveDefault"


class SecurityGroupCannotUpdateDefault(Conflict):
    """The default group keeps its name."""

    code = "SecurityGroupCannotUpdateDefault"


class SecurityGroupRuleExists(Conflict):
    """The group has this rule already."""

    code = "SecurityGroupRuleExists"
