"""Does a database answer? `python -m config.probe URL` exits 0 when it does."""

import sys

import environ
import MySQLdb


def main(url: str) -> int:
    """Try to connect for two seconds."""
    config = environ.Env.db_url_config(url)
    try:
        MySQLdb.connect(
            host=config["HOST"],
            port=int(config["PORT"] or 3306),
            user=config["USER"],
            password=config["PASSWORD"],
            connect_timeout=2,
        ).close()
    except MySQLdb.OperationalError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
