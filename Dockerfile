# Pombo's own image: web server and worker under its supervisor, as an ordinary user.
#   docker build -t pombo .
#   docker run --env-file .env -p 8080:8080 --stop-timeout 40 pombo
FROM python:3.11-slim-bookworm AS build
WORKDIR /app
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc pkg-config default-libmysqlclient-dev gettext \
    && rm -rf /var/lib/apt/lists/*
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements.txt .
RUN pip install --no-cache-dir -r requirements.txt
COPY . .
# The key signs nothing here; settings refuse to load without one.
RUN SECRET_KEY=only-for-collecting-static-files python manage.py compilemessages -v 0 \
    && SECRET_KEY=only-for-collecting-static-files python manage.py collectstatic --noinput -v 0

FROM python:3.11-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends libmariadb3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home pombo
COPY --from=build /venv /venv
COPY --from=build /app /app
RUN mkdir -p /app/var && chown pombo /app/var
WORKDIR /app
USER 10001
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 OON_PRE_STOP_SECONDS=0 OON_TERMINATION_GRACE_SECONDS=40
EXPOSE 8080
ENTRYPOINT ["python", "-m", "apps.delivery.supervisor"]
# The web server drains first, then the worker finishes what it has begun.
CMD ["--backend", "gunicorn config.wsgi --bind 0.0.0.0:8080 --workers 2 --threads 4", \
     "--extra", "worker=python manage.py qcluster"]
