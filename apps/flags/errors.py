"""What can be wrong with a flag."""

from apps.common.errors import Conflict, InvalidInput, NotFound


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


class PrerequisiteCycle(InvalidInput):
    """Flags that would depend on themselves."""

    code = "prerequisite_cycle"

    def __init__(self, name: str) -> None:
        super().__init__("The prerequisites go round in a circle.", details={"name": name})


class InvalidUnits(InvalidInput):
    """A fine share outside 0 to 100,000."""

    code = "invalid_units"

    def __init__(self, units: int) -> None:
        super().__init__("A share lies between 0 and 100,000.", details={"units": units})


class ChangeNotRevertible(Conflict):
    """A change that left nothing to return to."""

    code = "change_not_revertible"

    def __init__(self, change_id: int) -> None:
        super().__init__("This change cannot be reverted.", details={"change": change_id})


class StepsNotOrdered(InvalidInput):
    """Steps lie in the past or do not follow each other."""

    code = "steps_not_ordered"

    def __init__(self) -> None:
        super().__init__("Steps lie in the future, each after the one before it.")
