# A pipeline as a page and an API, run by a plain user who can only read it:
#
#   docker build --build-arg PIPELINE=hp_index --tag connorm .
#   docker run --rm --read-only --tmpfs /tmp --publish 127.0.0.1:8000:8000 connorm
#
# It prints the address to open, with its token. Behind another name, add `--name terms.example.org`.
#
# For corrections, mount a folder that this user may write, and name the file in it:
#   --volume "$PWD/corrections:/corrections" connorm --corrections /corrections/corrections.jsonl
FROM python:3.12-slim

ARG EXTRAS=serve,dan,onnx
COPY constraints.txt setup.cfg setup.py README.md LICENSE /source/
COPY spacy_connorm /source/spacy_connorm
RUN pip install --no-cache-dir "/source[$EXTRAS]" --constraint /source/constraints.txt && rm -r /source

ARG PIPELINE
COPY --chmod=a=rX ${PIPELINE} /pipeline

RUN useradd --uid 10001 --no-create-home connorm
USER 10001
ENV HF_HUB_OFFLINE=1
EXPOSE 8000
ENTRYPOINT ["connorm", "serve", "/pipeline", "--host", "0.0.0.0", "--name", "localhost"]
