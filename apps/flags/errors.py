"""What can be wrong with a flag."""

from apps.common.errors import InvalidInput, NotFound


class InvalidFlagName(InvalidInput):
    """Nothing is left of the name after normalising."""

    code = "invalid_flag_name"

    def __init__(self, name: str) -> None:
        super().__init__(
            "A flag's name needs letters a-z, digits or _ : -.", details={"name": name}
        )


class InvalidPercent(InvalidInput):
    """A percentage outside 0 to 100."""

    code = "invalid_percent"

    def __init__(self, percent: int) -> None:
        super().__init__("A percentage lies between 0 and 100.", details={"percent": percent})


class FlagNotFound(NotFound):
    """No flag has that name."""

    code = "flag_not_found"

    def __init__(self, name: str) -> None:
        super().__init__("There is no such flag.", details={"name": name})
