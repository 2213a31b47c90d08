FROM python:3.12.14-slim-bookworm@sha256:392307d22300de8b5986851a12d9176dfc0fc073e65bf6523ebd7dcbeb23564e

LABEL org.opencontainers.image.title="EvalGate" \
      org.opencontainers.image.description="A CI quality gate for AI agents" \
      org.opencontainers.image.licenses="Apache-2.0"

# Dependencies first: they change less often than the source. pip is removed: the image must not install anything.
COPY requirements/image.txt /opt/evalgate/image.txt
RUN python -m pip install --no-cache-dir --no-compile --no-deps --only-binary :all: \
        --require-hashes --requirement /opt/evalgate/image.txt \
    && python -m pip uninstall --yes --quiet --root-user-action ignore pip \
    && rm -rf /usr/local/lib/python3.12/ensurepip /usr/local/bin/pip* \
    && python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.12

# The package is copied to site-packages, never installed by name: that name on PyPI belongs to another project.
COPY evalgate /usr/local/lib/python3.12/site-packages/evalgate
COPY entrypoint.py LICENSE NOTICE /opt/evalgate/
RUN python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.12/site-packages/evalgate \
    && python -c "from evalgate.reporting.markdown.render import compile_templates; compile_templates()"

# Isolated mode: neither the workspace nor the job's environment affects imports.
ENTRYPOINT ["/usr/local/bin/python", "-I", "-X", "utf8", "/opt/evalgate/entrypoint.py"]
