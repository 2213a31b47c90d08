FROM python:3.12.12-slim-bookworm

LABEL org.opencontainers.image.title="EvalGate" \
      org.opencontainers.image.description="A gate in CI on what an AI agent does" \
      org.opencontainers.image.licenses="Apache-2.0"

# Dependencies first: they change less often than the source. Nothing that could install more stays behind.
COPY requirements/image.txt /opt/evalgate/image.txt
RUN python -m pip install --no-cache-dir --no-compile --no-deps --only-binary :all: \
        --require-hashes --requirement /opt/evalgate/image.txt \
    && python -m pip uninstall --yes --quiet --root-user-action ignore pip \
    && rm -rf /usr/local/lib/python3.12/ensurepip /usr/local/bin/pip* \
    && python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.12

# The package is copied, never installed by its name, to where an isolated interpreter looks.
COPY evalgate /usr/local/lib/python3.12/site-packages/evalgate
COPY entrypoint.py LICENSE /opt/evalgate/
RUN python -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3.12/site-packages/evalgate \
    && python -m evalgate.adapters.compiled_templates

# Isolated: neither the workspace nor the environment of the job decides what is imported.
ENTRYPOINT ["/usr/local/bin/python", "-I", "-X", "utf8", "/opt/evalgate/entrypoint.py"]
