FROM python:3.12.14-slim-bookworm@sha256:392307d22300de8b5986851a12d9176dfc0fc073e65bf6523ebd7dcbeb23564e AS build

# Dependencies first: they change less often than the source. What installs software is removed, since the image must
# install nothing: pip, apt, and what only they need; and tests of packages, and databases that no store can be in.
# SQLAlchemy's compiled modules have the same in Python.
COPY requirements/core.txt requirements/gate.txt requirements/image.txt /opt/evalgate/
RUN python -m pip install --no-cache-dir --no-compile --no-deps --only-binary :all: \
        --require-hashes --requirement /opt/evalgate/image.txt \
    && python -m pip uninstall --yes --quiet --root-user-action ignore pip \
    && cd /usr/local/lib/python3.12 \
    && rm -rf ensurepip idlelib lib2to3 pydoc_data tkinter turtledemo turtle.py \
        site-packages/alembic/testing site-packages/certifi/tests site-packages/regex/tests \
        site-packages/sqlalchemy/testing site-packages/sqlalchemy/dialects/mssql \
        site-packages/sqlalchemy/dialects/mysql site-packages/sqlalchemy/dialects/oracle \
    && find site-packages/sqlalchemy -name '*.so' -delete \
    && find /usr/local/bin -type f ! -name 'python3*' -delete \
    && dpkg --purge --force-all apt gpgv libapt-pkg6.0 libgnutls30 libhogweed6 libidn2-0 libnettle8 libp11-kit0 \
        libunistring2 perl-base \
    && rm -rf /usr/lib/*-linux-gnu/gconv /usr/local/include /var/cache/* /var/log/* /var/lib/dpkg/*-old \
    && python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.12

# A single layer of all files: those that were removed from the base above would still be in its layers.
FROM scratch

LABEL org.opencontainers.image.title="EvalGate" \
      org.opencontainers.image.description="A CI quality gate for AI agents" \
      org.opencontainers.image.licenses="Apache-2.0"
ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/bin:/usr/sbin:/bin:/sbin LANG=C.UTF-8
COPY --from=build / /

# The package is copied to site-packages, never installed by name: that name on PyPI belongs to another project.
COPY evalgate /usr/local/lib/python3.12/site-packages/evalgate
COPY entrypoint.py LICENSE NOTICE /opt/evalgate/
RUN python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.12/site-packages/evalgate \
    && python -c "from evalgate.reporting.markdown.render import compile_templates; compile_templates()" \
    && printf '#!/usr/local/bin/python -IXutf8\nfrom evalgate.__main__ import main\nmain()\n' > /usr/local/bin/evalgate \
    && chmod 755 /usr/local/bin/evalgate

# Without arguments, in a job on GitHub, it is the Action, else the command `evalgate`, which other CI systems may also
# call by its name. Isolated mode: neither the workspace nor the job's environment affects imports.
ENTRYPOINT ["/usr/local/bin/python", "-I", "-X", "utf8", "/opt/evalgate/entrypoint.py"]
