#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes tests/golden/encoder_layer.safetensors: what Python PyTorch's TransformerEncoderLayer says.

A small encoder (D=16, H=2, F=32, two layers) with random weights, built from torch's own modules:
its outputs after each layer, the last token's context, and the gradients of sum(context * probe).
src/train/golden_test.cc holds our networks against it. Needs Debian's python3-torch:

    /usr/bin/python3 scripts/make_encoder_golden.py tests/golden/encoder_layer.safetensors
"""

import hashlib
import json
import math
import sys

import torch

B, T, INPUTS, D, H, F, L = 3, 6, 6, 16, 2, 32, 2

# torch's names of a layer's parameters, in the order of our model file, and ours.
NAMES = {
    "norm1.weight": "norm1.weight",
    "norm1.bias": "norm1.bias",
    "self_attn.in_proj_weight": "attention.in.weight",
    "self_attn.in_proj_bias": "attention.in.bias",
    "self_attn.out_proj.weight": "attention.out.weight",
    "self_attn.out_proj.bias": "attention.out.bias",
    "norm2.weight": "norm2.weight",
    "norm2.bias": "norm2.bias",
    "linear1.weight": "ff.in.weight",
    "linear1.bias": "ff.in.bias",
    "linear2.weight": "ff.out.weight",
    "linear2.bias": "ff.out.bias",
}


def make_modules():
    embed = torch.nn.Linear(INPUTS, D)
    layers = [
        torch.nn.TransformerEncoderLayer(D, H, F, dropout=0.0, batch_first=True, norm_first=True)
        for _ in range(L)
    ]
    norm = torch.nn.LayerNorm(D)
    parameters = {"embed.weight": embed.weight, "embed.bias": embed.bias}
    for n, layer in enumerate(layers):
        theirs = dict(layer.named_parameters())
        parameters.update({f"layers.{n}.{ours}": theirs[name] for name, ours in NAMES.items()})
    parameters.update({"norm.weight": norm.weight, "norm.bias": norm.bias})
    with torch.no_grad():  # away from the zeros and ones they start with
        for parameter in parameters.values():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return embed, layers, norm, parameters


def positions():
    pe = torch.zeros(T, D, dtype=torch.float64)
    for t in range(T):
        for j in range(0, D, 2):
            angle = t / 10000 ** (j / D)
            pe[t, j], pe[t, j + 1] = math.sin(angle), math.cos(angle)
    return pe.float()


def compute():
    embed, layers, norm, parameters = make_modules()
    tokens, probe = 0.5 * torch.randn(B, T, INPUTS), torch.randn(B, D)
    result = {"tokens": tokens, "probe": probe}
    x = math.sqrt(D) * embed(tokens) + positions()
    result["activations.embed"] = x
    for n, layer in enumerate(layers):
        x = layer(x)
        result[f"activations.layers.{n}"] = x
    context = norm(x[:, -1])
    result["activations.context"] = context
    (context * probe).sum().backward()
    result.update({f"weights.{name}": p for name, p in parameters.items()})
    result.update({f"gradients.{name}": p.grad for name, p in parameters.items()})
    return {name: value.detach().contiguous().numpy() for name, value in result.items()}


def encode(metadata, tensors):
    """The layout of src/model/tensor_file.h."""
    data = b"".join(value.astype("<f4").tobytes() for value in tensors.values())

    def header(header_hash):
        out = {"__metadata__": dict(metadata, data_sha256=hashlib.sha256(data).hexdigest(),
                                    header_sha256=header_hash)}
        begin = 0
        for name, value in tensors.items():
            end = begin + 4 * value.size
            out[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [begin, end]}
            begin = end
        text = json.dumps(out, separators=(",", ":")).encode()
        return text + b" " * (-len(text) % 8)

    final = header(hashlib.sha256(header("0" * 64)).hexdigest())
    return len(final).to_bytes(8, "little") + final + data


def main():
    torch.manual_seed(1)
    torch.set_num_threads(1)
    metadata = {"format": "aerocast-encoder-golden", "torch": torch.__version__}
    with open(sys.argv[1], "wb") as file:
        file.write(encode(metadata, compute()))


if __name__ == "__main__":
    main()
