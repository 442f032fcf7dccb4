"""`model_type` in the `config.json` of encoders that are not Hugging Face's."""

DAN = "connorm-dan"
GROUNDED_DAN = "connorm-grounded-dan"
ONNX = "connorm-onnx"

# The registered encoder that loads each.
ARCHITECTURES = {
    DAN: "DanEncoder.v1",
    GROUNDED_DAN: "GroundedDanEncoder.v1",
    ONNX: "OnnxEncoder.v1",
}
