"""What the identity API takes. Attributes that mean nothing here pass only with the value that says so."""

from typing import Final

from kilonova.companions.identity.passwords import LONGEST
from kilonova.http.shapes import Field, Schema, Shape, either, nullable, queries, text

# PostgreSQL cannot keep U+0000, so it is refused wherever a value is kept or looked for.
_ID: Final = text(1, 64, r"^[^\u0000]*$")
_NAME: Final = text(1, 255, r"^[^\u0000]*[^\s\u0000][^\u0000]*$")
_TEXT: Final = text(0, 65_535, r"^[^\u0000]*$")
_EMAIL: Final = text(0, 255, r"^[^\u0000]*$")
_PASSWORD: Final = text(0, LONGEST)
_TRUTH: Final[Schema] = {"type": "boolean"}
_FALSE: Final[Schema] = {"enum": [False, None]}
_NO_OPTIONS: Final[Schema] = {"type": "object", "maxProperties": 0}
_NO_TAGS: Final[Schema] = {"type": "array", "maxItems": 0}
_DEFAULT_DOMAIN: Final[Schema] = {"enum": ["default", None]}

_DOMAIN: Final = Shape([Field("id", _ID), Field("name", _NAME)])
_PASSWORD_METHOD: Final = Shape(
    [
        Field(
            "user",
            Shape(
                [
                    Field("id", _ID),
                    Field("name", _NAME),
                    Field("domain", _DOMAIN),
                    Field("password", _PASSWORD, required=True),
                ],
                more={"anyOf": [{"required": ["id"]}, {"required": ["name", "domain"]}]},
            ),
            required=True,
        )
    ]
)
_TOKEN_METHOD: Final = Shape([Field("id", text(1, 4096), required=True)])
_METHODS: Final[Schema] = {"type": "array", "minItems": 1, "maxItems": 4, "items": text(1, 64)}
_PROJECT_SCOPE: Final = Shape(
    [Field("id", _ID), Field("name", _NAME), Field("domain", _DOMAIN)],
    more={"anyOf": [{"required": ["id"]}, {"required": ["name", "domain"]}]},
)
_SCOPE: Final = Shape(
    [
        Field("project", _PROJECT_SCOPE),
        Field("domain", _DOMAIN),
        Field("system", Shape([Field("all", {"const": True}, required=True)])),
    ],
    more={"minProperties": 1, "maxProperties": 1},
)

LOGIN: Final = Shape(
    [
        Field(
            "auth",
            Shape(
                [
                    Field(
                        "identity",
                        # Methods that are not served are refused by name, so their parts may stand here.
                        Shape(
                            [
                                Field("methods", _METHODS, required=True),
                                Field("password", _PASSWORD_METHOD),
                                Field("token", _TOKEN_METHOD),
                            ],
                            extra=True,
                        ),
                        required=True,
                    ),
                    Field("scope", either({"const": "unscoped"}, _SCOPE.schema(0), {"const": {}})),
                ]
            ),
            required=True,
        )
    ]
)


def _body(word: str, fields: list[Field]) -> Shape:
    return Shape([Field(word, Shape(fields), required=True)])


def _project(new: bool) -> Shape:
    fields = [
        Field("name", _NAME, required=new),
        Field("description", nullable(_TEXT)),
        Field("enabled", _TRUTH),
        Field("domain_id", _DEFAULT_DOMAIN),
        Field("parent_id", _DEFAULT_DOMAIN),
        Field("is_domain", _FALSE),
        Field("tags", _NO_TAGS),
        Field("options", _NO_OPTIONS),
    ]
    return _body("project", fields)


def _user(new: bool) -> Shape:
    fields = [
        Field("name", _NAME, required=new),
        Field("password", nullable(_PASSWORD)),
        Field("email", nullable(_EMAIL)),
        Field("description", nullable(_TEXT)),
        Field("default_project_id", nullable(_ID)),
        Field("enabled", _TRUTH),
        Field("domain_id", _DEFAULT_DOMAIN),
        Field("options", _NO_OPTIONS),
    ]
    return _body("user", fields)


NEW_PROJECT: Final = _project(new=True)
CHANGED_PROJECT: Final = _project(new=False)
NEW_USER: Final = _user(new=True)
CHANGED_USER: Final = _user(new=False)
NEW_PASSWORD: Final = _body(
    "user", [Field("password", _PASSWORD, required=True), Field("original_password", _PASSWORD, required=True)]
)
ROLE: Final = _body(
    "role",
    [
        Field("name", _NAME, required=True),
        Field("description", {"enum": ["", None]}),
        Field("domain_id", {"type": "null"}),
        Field("options", _NO_OPTIONS),
    ],
)
LIST: Final = queries({"name": text(), "domain_id": text(), "enabled": text()}, extra=True)
