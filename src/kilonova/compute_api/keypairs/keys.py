"""Fingerprints of given keys, and new pairs for versions that still make them. It knows cryptography and nothing of HTTP."""

import base64
import binascii
import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

from kilonova.domain.errors import BadRequest

_BITS: Final = 2048
_YEARS: Final = timedelta(days=3650)
# The user principal name by which Windows maps a certificate to an account.
_UPN: Final = ObjectIdentifier("1.3.6.1.4.1.311.20.2.3")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A pair just made. `private_key` is PEM and goes to the caller only."""

    public_key: str
    private_key: str


def _colons(digest: bytes) -> str:
    return digest.hex(":")


def ssh_fingerprint(public_key: str) -> str:
    """The MD5 of the key's body, in pairs with colons. Raises errors.BadRequest for what is no OpenSSH public key."""
    try:
        serialization.load_ssh_public_key(public_key.strip().encode())
        body = base64.b64decode(public_key.split()[1])
    except (ValueError, IndexError, UnsupportedAlgorithm) as error:
        raise BadRequest(f"Keypair data is invalid: failed to generate fingerprint ({error})") from error
    return _colons(hashlib.md5(body, usedforsecurity=False).digest())


def x509_fingerprint(certificate: str) -> str:
    """The SHA-1 of the certificate, in pairs with colons. It may be PEM, or PEM in base64. Raises errors.BadRequest."""
    data = certificate.encode()
    try:
        if not data.lstrip().startswith(b"-----"):
            data = base64.b64decode(data)
        loaded = x509.load_pem_x509_certificate(data)
    except (ValueError, binascii.Error) as error:
        raise BadRequest(f"Keypair data is invalid: failed to generate X509 fingerprint ({error})") from error
    return _colons(loaded.fingerprint(hashes.SHA1()))


def new_ssh_key() -> NewKey:
    """A new RSA pair. Takes about a tenth of a second of CPU: run it in a thread."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
    public = private.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    return NewKey(f"{public.decode()} Generated-by-Kilonova", _pem(private, serialization.PrivateFormat.TraditionalOpenSSL))


def new_x509_key(user_id: str) -> NewKey:
    """A new certificate that Windows takes for remote logins of `user_id`, with its key. Run it in a thread."""
    private = rsa.generate_private_key(public_exponent=65537, key_size=_BITS)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, user_id[:64] or "kilonova")])
    # DER of a UTF8String; user ids are far below 128 bytes, so one byte of length is enough.
    principal = f"{user_id[:64]}@localhost".encode()
    start = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + _YEARS)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([x509.OtherName(_UPN, bytes([0x0C, len(principal)]) + principal)]), critical=False
        )
        .sign(private, hashes.SHA256())
    )
    certificate = made.public_bytes(serialization.Encoding.PEM).decode()
    return NewKey(certificate, _pem(private, serialization.PrivateFormat.PKCS8))


def _pem(private: rsa.RSAPrivateKey, form: serialization.PrivateFormat) -> str:
    return private.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
