// SPDX-License-Identifier: BSD-3-Clause
//
// Ways in which a model file can be wrong, each with a name, the file, and words of the sentence
// that refuses it. All but the crudest have the right length and hashes: they get past them.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/check.h"
#include "src/model/calibration_testing.h"
#include "src/model/forge_testing.h"

namespace aerocast {

struct Malformed {
  std::string name, bytes, expected;
};

class MalformedModels {
 public:
  MalformedModels() : good_(*Cut(*EncodeModel(TinyModel(), "tiny"))) {
    AddLengths();
    AddHeaderTexts();
    AddMetadata();
    AddHashes();
    AddConfigs();
    AddProvenances();
    AddCalibrations();
    AddEntries();
    AddOffsets();
    AddShapes();
    AddTensors();
    AddData();
  }

  const std::vector<Malformed>& all() const { return all_; }
  const HeaderAndData& good() const { return good_; }

 private:
  void Add(std::string name, std::string bytes, std::string expected) {
    all_.push_back({std::move(name), std::move(bytes), std::move(expected)});
  }
  // The good file with one piece of its header replaced, hashes right again.
  void Replace(std::string name, std::string_view from, std::string_view to, std::string expected) {
    Add(std::move(name), Forge(Replaced(from, to), good_.data), std::move(expected));
  }
  std::string Replaced(std::string_view from, std::string_view to) const {
    std::string header = good_.header;
    const std::size_t at = header.find(from);
    AEROCAST_CHECK(at != std::string::npos);
    return header.replace(at, from.size(), to);
  }
  static std::string Length(std::uint64_t length) {
    return std::string(reinterpret_cast<const char*>(&length), sizeof length);
  }
  static std::string Floats(std::vector<float> numbers) {
    return std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4);
  }

  void AddLengths() {
    const std::string whole = Raw(good_.header, good_.data), rest = whole.substr(8);
    const std::uint64_t n = good_.header.size();
    Add("empty file", "", "is 0 bytes, expected at least the 8 bytes");
    Add("seven bytes", whole.substr(0, 7), "is 7 bytes, expected at least the 8 bytes");
    Add("length alone", whole.substr(0, 8), "but only 0 follow: the file was cut off");
    Add("length zero", Length(0) + rest, "header does not begin with '{'");
    Add("length huge", Length(std::uint64_t{1} << 40) + rest, "expected at most 65536");
    Add("length of all ones", Length(~std::uint64_t{0}) + rest, "is 18446744073709551615 bytes");
    Add("length that wraps with its own 8 bytes", Length(~std::uint64_t{0} - 7) + rest,
        "expected at most 65536");
    Add("length beyond the file", Length(n + good_.data.size() + 8) + rest, "the file was cut off");
    Add("length of a whole file", Length(n + good_.data.size() / 8 * 8) + rest, "is not JSON");
    Add("length too short by 8", Length(n - 8) + rest, "");
    Add("length in big endian", std::string(6, '\0') + "\x08\x00" + rest, "expected at most 65536");
    Add("header not padded", Raw(good_.header + " ", good_.data), "expected a multiple of 8");
    Add("header cut off", whole.substr(0, 8 + n / 2), "the file was cut off");
  }

  void AddHeaderTexts() {
    const std::string& data = good_.data;
    Add("header is zeros", Raw(std::string(64, '\0'), data), "does not begin with '{'");
    Add("header is spaces", Raw(std::string(64, ' '), data), "does not begin with '{'");
    Add("header is no JSON", Forge("{]", data), "is not JSON");
    Add("header is a list", Forge("[]", data), "does not begin with '{'");
    Add("header is a number", Forge("7", data), "does not begin with '{'");
    Add("header with a byte order mark", Forge("\xef\xbb\xbf" + good_.header, data),
        "does not begin with '{'");
    Add("header of two objects", Forge(good_.header + good_.header, data), "is not JSON");
    Add("header with a comment", Forge("{/**/" + good_.header.substr(1), data), "is not JSON");
    Add("header that ends in zeros", Forge(good_.header + std::string(8, '\0'), data),
        "is not JSON");
    Replace("header in invalid UTF-8", "\"tiny\"", "\"ti\xff\xfey\"", "is not JSON");
    Replace("header with an overlong character", "\"tiny\"", "\"ti\xc0\xafy\"", "is not JSON");
    Replace("header with half a surrogate", "\"tiny\"", R"("ti\ud800")", "is not JSON");
    Replace("header with a raw control character", "\"tiny\"", "\"ti\x01\"", "is not JSON");
    Replace("header with NaN", "[0,12]", "[0,NaN]", "is not JSON");
    Replace("header with a trailing comma", "[0,12]", "[0,12,]", "is not JSON");
    Add("deep nesting of lists", Forge("{\"a\":" + std::string(60'000, '['), data),
        "nested too deep");
    std::string deep = "{";
    for (int n = 0; n < 10'000; ++n) deep += "\"a\":{";
    Add("deep nesting of objects", Forge(deep, data), "nested too deep");
    Add("30,000 values in a list", Forge("{\"a\":[0" + Repeated(",0", 30'000) + "]}", data),
        "header has no '__metadata__'");
    Add("33,000 lists in a list", Forge("{\"a\":[0" + Repeated(",1", 32'700) + "]}", data),
        "header has no '__metadata__'");
    Add("20,000 empty objects", Forge("{\"a\":[{}" + Repeated(",{}", 20'000) + "]}", data),
        "header has no '__metadata__'");
    std::string entries = "{";
    for (int n = 0; n < 7'000; ++n) entries += "\"" + std::to_string(n) + "\":0,";
    Add("7,000 tensors", Forge(entries + "\"x\":0}", data),
        "has 7001 entries, expected at most 512");
    for (int n = 7'000; n < 100'000; ++n) entries += "\"" + std::to_string(n) + "\":0,";
    Add("100,000 entries", Forge(entries + "\"x\":0}", data), "expected at most 65536");
    Add("513 tensors",
        Forge(Replaced("},\"layers.0.w", "}," + Entries(513) + "\"layers.0.w"), data),
        "entries, expected at most 512 tensors");
  }
  static std::string Repeated(std::string_view text, int times) {
    std::string all;
    for (int n = 0; n < times; ++n) all += text;
    return all;
  }
  static std::string Entries(int count) {
    std::string all;
    for (int n = 0; n < count; ++n) {
      all += "\"t" + std::to_string(n) + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)";
    }
    return all;
  }

  void AddMetadata() {
    const std::string name = R"("name":"tiny")";
    Add("no metadata",
        Forge("{" + good_.header.substr(good_.header.find("\"layers.0.w")), good_.data),
        "header has no '__metadata__'");
    Add("metadata is a list", Forge(R"({"__metadata__":[]})", ""),
        "'__metadata__' is not an object");
    Add("metadata is null", Forge(R"({"__metadata__":null})", ""),
        "'__metadata__' is not an object");
    Add("metadata twice", Forge(R"({"__metadata__":{},)" + good_.header.substr(1), good_.data),
        "the key '__metadata__' is there twice");
    Replace("metadata key twice", name, name + "," + name, "the key 'name' is there twice");
    Replace("metadata key twice in other letters", name, name + R"(,"n\u0061me":"tiny")",
            "the key 'name' is there twice");
    Replace("metadata number", name, R"("name":7)", "metadata 'name' is 7, expected a text");
    Replace("metadata null", name, R"("name":null)", "metadata 'name' is null, expected a text");
    Replace("metadata object", name, R"("name":{})", "'name' is an object, expected a text");
    Replace("metadata key with a space", name, name + R"(,"a b":"")", "no printable ASCII name");
    Replace("metadata key empty", name, name + R"(,"":"")", "metadata key '' is no printable");
    Replace("metadata key unknown", name, name + R"(,"x":"")", "metadata 'x' is not known here");
    Replace("name missing", name + ",", "", "metadata 'name' is missing");
    Replace("name empty", name, R"("name":"")", "metadata 'name' is '', expected up to 64");
    Replace("name too long", name, "\"name\":\"" + std::string(65, 'x') + "\"",
            "expected up to 64");
    Replace("name with a path", name, R"("name":"../x")", "metadata 'name' is '../x'");
    Replace("name with an escape sequence", name, R"("name":"\u001b[2J")", "is '?[2J', expected");
    Replace("format missing", R"("format":"aerocast-model",)", "", "'format' is missing");
    Replace("format unknown", "aerocast-model", "aerocast-golden",
            "is 'aerocast-golden', expected");
    Replace("version from the future", R"("format_version":"1")", R"("format_version":"2")",
            "metadata 'format_version' is '2', expected '1'");
    Replace("version in other digits", R"("format_version":"1")", R"("format_version":"01")",
            "metadata 'format_version' is '01', expected '1'");
    Replace("version missing", R"("format_version":"1",)", "", "'format_version' is missing");
  }

  void AddHashes() {
    const std::string hash = "header_sha256";
    const std::string& data = good_.data;
    Add("bit flip in the header", Raw(Replaced("\"tiny\"", "\"tinx\""), data),
        "header is not the one that was written");
    Add("bit flip in the header's spaces",
        Raw(Replaced("\"name\":\"", "\"name\": \"") + "       ", data),
        "header is not the one that was written");
    std::string flipped = data;
    flipped[5] = static_cast<char>(flipped[5] ^ 16);
    Add("bit flip in the data", Raw(good_.header, flipped), "data is not the one that was written");
    Add("header hash missing", Forge(Replaced(hash, "header_sha257"), data), "no 'header_sha256'");
    Add("data hash missing", Forge(Replaced("data_sha256", "data_sha257"), data),
        "no 'data_sha256'");
    for (const char* key : {"header_sha256", "data_sha256"}) {
      const std::string text = std::string(key);
      std::string header = good_.header;
      PutHash(header, text, std::string(64, 'g'));
      Add(text + " of no digits", Raw(header, data), "expected 64 hexadecimal digits");
      header = good_.header;
      PutHash(header, text, std::string(64, 'A'));
      Add(text + " in upper case", Raw(header, data), "hexadecimal digits, lower case");
      header = good_.header;
      PutHash(header, text, std::string(60, 'a'));
      Add(text + " too short", Forge(header, data), "expected 64 hexadecimal digits");
      header = good_.header;
      PutHash(header, text, std::string(64, '0'));
      Add(text + " of zeros", Raw(header, data), "is not the one that was written");
    }
  }

  void AddConfigs() {
    const std::string steps = R"(\"history_steps\":1)", hidden = R"(\"hidden\":[1])";
    const std::string dt = R"(\"dt_s\":0.1)";
    const auto with = [&](const std::string& name, const std::string& from, const std::string& to,
                          const std::string& expected) {
      Replace("config: " + name, from, to, expected);
    };
    with("no JSON", R"({\"arch)", R"([\"arch)", "config: byte");
    with("empty", R"("config":")", R"("config":"","x":")", "is not known here");
    with("is a list", R"("config":"{)", R"("config":"[]{)", "config: byte");
    with("architecture unknown", R"(\"mlp\")", R"(\"rnn\")", "\"rnn\", expected a known one");
    with("architecture of other fields", R"(\"mlp\")", R"(\"gru\")", "'width' is missing");
    with("field missing", steps + ",", "", "config: field 'history_steps' is missing");
    with("field twice", steps, steps + "," + steps, "'history_steps' is there twice");
    with("field unknown", steps, steps + R"(,\"x\":1)", "field 'x' is not known here");
    with("text for a number", steps, R"(\"history_steps\":\"1\")", "expected a whole number");
    with("fraction", steps, R"(\"history_steps\":1.5)", "is 1.5, expected a whole number");
    with("whole number as fraction", steps, R"(\"history_steps\":1.0)", "expected a whole number");
    with("negative", steps, R"(\"history_steps\":-1)", "is -1, expected 1 to 1000");
    with("zero", steps, R"(\"history_steps\":0)", "is 0, expected 1 to 1000");
    with("huge", steps, R"(\"history_steps\":4294967297)", "expected 1 to 1000");
    with("beyond int64", steps, R"(\"history_steps\":18446744073709551615)",
         "expected a whole number");
    with("beyond every integer", steps, R"(\"history_steps\":1e30)", "expected a whole number");
    with("leading zero", steps, R"(\"history_steps\":01)", "is not JSON");
    with("NaN", dt, R"(\"dt_s\":NaN)", "is not JSON");
    with("infinity", dt, R"(\"dt_s\":1e999)", "is not JSON");
    with("null", dt, R"(\"dt_s\":null)", "field 'dt_s' is null, expected a number");
    with("NaN as a text", dt, R"(\"dt_s\":\"nan\")", "field 'dt_s' is \"nan\", expected a number");
    with("out of range", dt, R"(\"dt_s\":1e300)", "is 1e+300, expected 0.001 to 10");
    with("flag as a number", R"(\"velocity\":false)", R"(\"velocity\":0)",
         "expected true or false");
    with("hidden empty", hidden, R"(\"hidden\":[])", "a list of 0, expected 1 to 16 sizes");
    with("hidden too long", hidden, R"(\"hidden\":[1)" + Repeated(",1", 16) + "]",
         "a list of 17, expected 1 to 16 sizes");
    with("hidden zero", hidden, R"(\"hidden\":[0])", "'hidden' is 0, expected 1 to 8192");
    with("hidden no list", hidden, R"(\"hidden\":1)", "expected a list of whole numbers");
    with("too many parameters", hidden, R"(\"hidden\":[8192)" + Repeated(",8192", 15) + "]",
         "parameters, expected at most 250000000");
    with("of another network", hidden, R"(\"hidden\":[2])", "has shape (1, 3), expected (2, 3)");
    with("the same in other words", dt, R"(\"dt_s\":0.10)", "says it in other words");
    with("missing", R"("config":)", R"("confix":)", "'confix' is not known here");
  }

  void AddProvenances() {
    const std::string seed = R"(\"seed\":0)", metric = R"(\"validation_ade_m\":0.25)";
    const auto with = [&](const std::string& name, const std::string& from, const std::string& to,
                          const std::string& expected) {
      Replace("provenance: " + name, from, to, expected);
    };
    with("no JSON", R"({\"corpus)", R"(\"corpus)", "provenance: byte");
    with("field missing", seed + ",", "", "provenance: field 'seed' is missing");
    with("field twice", seed, seed + "," + seed, "the key 'seed' is there twice");
    with("field unknown", seed, seed + R"(,\"path\":\"/etc\")", "'path' is not known here");
    with("seed negative", seed, R"(\"seed\":-1)", "is -1, expected a whole number, at least 0");
    with("metric is a text", metric, R"(\"validation_ade_m\":\"\")", "expected a number");
    with("metric is infinite", metric, R"(\"validation_ade_m\":1e400)", "is not JSON");
    with("metrics nested", metric, R"(\"a\":{\"b\":1})", "is an object, expected a number");
    with("metrics deep", metric, R"(\"a\":)" + std::string(1000, '['), "nested too deep");
    with("spaces between keys", "0123456789ab ", "0123456789ab  ", "says it in other words");
  }

  void AddCalibrations() {
    Model model = TinyModel();
    model.calibration = MadeUpCalibration(1, true, 2);
    const HeaderAndData calibrated = *Cut(*EncodeModel(model, "tiny"));
    const auto with = [&](const std::string& name, const std::string& from, const std::string& to,
                          const std::string& expected) {
      std::string header = calibrated.header;
      const std::size_t at = header.find(from);
      AEROCAST_CHECK(at != std::string::npos);
      Add("calibration: " + name, Forge(header.replace(at, from.size(), to), calibrated.data),
          expected);
    };
    const std::string temperature = R"(\"temperature\":1.5)", level = R"(\"level\":[0.5,0.9])";
    const std::string tube = R"(\"tube\":[1.5,3.0])", radius = R"(\"radius\":[1.0,3.0])";
    const std::string knots = R"(\"knot_s\":[0.1,1.0,3.0])", shape = R"(\"shape\":[1.0])";
    const std::string along = R"(\"scale_along\":[2.0,1.5,1.2])";
    with("no JSON", R"({\"corpus_hash\":\"abc)", R"({\"corpus_hash\":)", "calibration: byte");
    with("field missing", temperature + ",", "", "calibration: field 'temperature' is missing");
    with("field twice", temperature, temperature + "," + temperature, "is there twice");
    with("field unknown", temperature, temperature + R"(,\"x\":1)", "'x' is not known here");
    with("temperature a text", temperature, R"(\"temperature\":\"1\")", "expected a number");
    with("temperature zero", temperature, R"(\"temperature\":0.0)",
         "'temperature' holds 0.0, expected 0.05 to 20.0");
    with("temperature negative", temperature, R"(\"temperature\":-1.5)", "expected 0.05 to 20.0");
    with("temperature infinite", temperature, R"(\"temperature\":1e999)", "is not JSON");
    with("temperature in other words", temperature, R"(\"temperature\":1.50)", "in other words");
    with("no knots", knots, R"(\"knot_s\":[])", "'knot_s' has 0 numbers, expected 1 to 16");
    with("knots descend", knots, R"(\"knot_s\":[1.0,0.1,3.0])", "'knot_s' does not ascend");
    with("knot negative", knots, R"(\"knot_s\":[-0.1,1.0,3.0])", "'knot_s' holds -0.1");
    with("scale too short", along, R"(\"scale_along\":[2.0])", "has 1 numbers, expected 3");
    with("scale zero", along, R"(\"scale_along\":[0.0,1.5,1.2])", "'scale_along' holds 0.0");
    with("scale huge", along, R"(\"scale_along\":[2.0,1e300,1.2])", "'scale_along' holds 1e+300");
    with("scale no list", along, R"(\"scale_along\":2.0)", "expected a list of numbers");
    with("scale of texts", along, R"(\"scale_along\":[\"2\",1.5,1.2])",
         "expected a list of numbers");
    with("tail of the whole weight", R"(\"tail_share\":0.2)", R"(\"tail_share\":1.0)",
         "'tail_share' holds 1.0, expected 0.0 to 0.5");
    with("tail narrower", R"(\"tail_factor\":3.0)", R"(\"tail_factor\":0.5)",
         "'tail_factor' holds 0.5");
    with("factor without a tail", R"(\"tail_share\":0.2)", R"(\"tail_share\":0.0)",
         "expected 1.0 without a 'tail_share'");
    with("slope too steep", R"(\"vague_slope\":0.5)", R"(\"vague_slope\":1.5)",
         "'vague_slope' holds 1.5");
    with("history's slope too steep", R"(\"seen_slope\":-0.25)", R"(\"seen_slope\":-1.25)",
         "'seen_slope' holds -1.25");
    with("no history", R"(\"histories_s\":[2.0,0.5])", R"(\"histories_s\":[])",
         "'histories_s' has 0 numbers, expected 1 to 16");
    with("range upside down", R"(\"vague_low\":-3.0)", R"(\"vague_low\":2.0)",
         "'vague_low' is above 'vague_high'");
    with("level one", level, R"(\"level\":[0.5,1.0])", "'level' holds 1.0");
    with("levels descend", level, R"(\"level\":[0.9,0.5])", "'level' does not ascend");
    with("level without flights", level, R"(\"level\":[0.5,0.99])",
         "'level' holds 0.99, which needs 99 flights, 'flight_count' is 12");
    with("no flights", R"(\"flight_count\":12)", R"(\"flight_count\":0)", "'flight_count' is 0");
    with("radius too short", radius, R"(\"radius\":[1.0])", "'radius' has 1 numbers, expected 2");
    with("radius negative", radius, R"(\"radius\":[-1.0,3.0])", "'radius' holds -1.0");
    with("radius descends", radius, R"(\"radius\":[4.0,3.0])", "is below that of a lower one");
    with("tube descends", tube, R"(\"tube\":[3.5,3.0])", "'tube' descends");
    with("tube missing", tube, R"(\"tube\":[])", "'tube' has 0 numbers, expected 2");
    with("shape zero", shape, R"(\"shape\":[0.0])", "'shape' holds 0.0");
    with("spaces between keys", R"(0123456789ab ba98)", R"(0123456789ab  ba98)",
         "says it in other words");
    with("residuals of another number", R"(\"residual_paths\":2)", R"(\"residual_paths\":1)",
         "has shape (2, 1, 3), expected (1, 1, 3)");
    with("residuals unsaid", R"(\"residual_paths\":2)", R"(\"residual_paths\":0)",
         "tensor 'calibration.residuals' is no part of a network");
    with("residuals beyond number", R"(\"residual_paths\":2)", R"(\"residual_paths\":4294967297)",
         "expected at most 2147483647");
    with("residuals of another name", "\"calibration.residuals\"", "\"calibration.residualz\"",
         "tensor 'calibration.residuals' is missing at the end");
    with("domain limit", R"(\"domain_limit\":3.0)", R"(\"domain_limit\":-3.0)",
         "'domain_limit' holds -3.0, expected 0.0 to 1000.0");
    with("domain", R"(\"domain_mean\":[-0.5,-0.1,0.1])", R"(\"domain_mean\":[-0.5,-0.1])",
         "three numbers");
    with("domain spread", R"(\"domain_sigma\":[0.2,0.15,0.1])",
         R"(\"domain_sigma\":[0.2,0.15,0.0])", "'domain_sigma' holds 0.0");
    with("correlation", R"(\"residual_correlation\":0.9)", R"(\"residual_correlation\":1.9)",
         "'residual_correlation' is 1.9, expected 0 to 1");
    std::string far = calibrated.data;
    const float beyond = 2000;
    std::memcpy(far.data() + far.size() - sizeof beyond, &beyond, sizeof beyond);
    Add("calibration: residual far away", Forge(calibrated.header, far), "1000 times the spread");
    std::string unsaid = calibrated.header;
    const std::size_t begin = unsaid.find(R"("calibration":)");
    unsaid.erase(begin, unsaid.find(R"("config":)") - begin);
    Add("calibration: residuals alone", Forge(unsaid, calibrated.data),
        "tensor 'calibration.residuals' is no part of a network");
  }

  void AddEntries() {
    const std::string entry =
        R"("layers.0.bias":{"dtype":"F32","shape":[1],"data_offsets":[12,16]})";
    const auto with = [&](const std::string& name, const std::string& to,
                          const std::string& expected) {
      Replace("entry: " + name, entry, "\"layers.0.bias\":" + to, expected);
    };
    with("a number", "7", "tensor 'layers.0.bias': is 7, expected an object");
    with("a list", "[]", "is a list, expected an object");
    with("empty", "{}", "field 'dtype' is missing");
    with("no shape", R"({"dtype":"F32","data_offsets":[12,16]})", "field 'shape' is missing");
    with("no offsets", R"({"dtype":"F32","shape":[1]})", "field 'data_offsets' is missing");
    with("more fields", R"({"dtype":"F32","shape":[1],"data_offsets":[12,16],"x":1})",
         "field 'x' is not known here");
    with("field twice", R"({"dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[12,16]})",
         "the key 'dtype' is there twice");
    with("dtype unknown", R"({"dtype":"F64","shape":[1],"data_offsets":[12,16]})",
         "has dtype 'F64', expected 'F32' or 'F16'");
    with("dtype a number", R"({"dtype":32,"shape":[1],"data_offsets":[12,16]})",
         "field 'dtype' is 32, expected a text");
    with("dtype of its own", R"({"dtype":"F16","shape":[2],"data_offsets":[12,16]})",
         "expected all tensors to have the same");
    Replace("entry: tensor twice", entry, entry + "," + entry, "'layers.0.bias' is there twice");
    Replace("entry: name empty", "\"layers.0.bias\"", "\"\"", "tensor name '' is no printable");
    Replace("entry: name with control characters", "\"layers.0.bias\"", R"("a\u0007\n")",
            "' is no printable ASCII name");
    Replace("entry: name with a zero", "\"layers.0.bias\"", R"("a\u0000")",
            "tensor name 'a?' is no printable");
    Replace("entry: name not ASCII", "\"layers.0.bias\"", "\"b\xc3\xbc\"", "is no printable ASCII");
    Replace("entry: name too long", "layers.0.bias", std::string(129, 'n'),
            "is no printable ASCII");
  }

  void AddOffsets() {
    const auto with = [&](const std::string& name, const std::string& to,
                          const std::string& expected) {
      Replace("offsets: " + name, "[12,16]", to, expected);
    };
    with("reversed", "[16,12]", "no ascending pair");
    with("negative", "[-4,0]", "no ascending pair");
    with("both negative", "[-8,-4]", "no ascending pair");
    with("one", "[12]", "no ascending pair");
    with("three", "[12,16,20]", "no ascending pair");
    with("none", "[]", "no ascending pair");
    with("not a list", "12", "expected a list of whole numbers");
    with("fractions", "[12.0,16.0]", "expected a list of whole numbers");
    with("a half", "[12,16.5]", "expected a list of whole numbers");
    with("texts", R"(["12","16"])", "expected a list of whole numbers");
    with("null", "[null,null]", "expected a list of whole numbers");
    with("beyond the data", "[12,99999]", "ends at byte 99999 of the data, but the data has only");
    with("at the end of int64", "[9223372036854775803,9223372036854775807]", "ends at byte");
    with("at the end of uint64", "[18446744073709551611,18446744073709551615]",
         "expected a list of whole numbers");
    with("overlapping", "[8,12]", "expected 12: it overlaps another");
    with("of another tensor", "[0,4]", "it overlaps another");
    with("with a hole", "[16,20]", "expected 12: there is a hole");
    with("too many bytes", "[12,20]", "has 8 bytes, expected as many as its shape needs");
    with("no bytes", "[12,12]", "has 0 bytes, expected as many as its shape needs");
    with("three bytes", "[12,15]", "has 3 bytes, expected as many as its shape needs");
  }

  void AddShapes() {
    const auto with = [&](const std::string& name, const std::string& to,
                          const std::string& expected) {
      Replace("shape: " + name, R"("shape":[1,3])", R"("shape":)" + to, expected);
    };
    with("rank 0", "[]", "has rank 0, expected 1 to 4");
    with("rank 5", "[1,1,1,1,3]", "has rank 5, expected 1 to 4");
    with("rank 10,000", "[3" + Repeated(",1", 9'999) + "]", "has rank 10000, expected 1 to 4");
    with("zero dimension", "[0,3]", "has a dimension of 0, expected 1 to 65536");
    with("negative dimension", "[-1,-3]", "has a dimension of -1, expected 1 to 65536");
    with("huge dimension", "[1,65537]", "has a dimension of 65537, expected 1 to 65536");
    with("dimension at the end of int64", "[9223372036854775807]", "expected 1 to 65536");
    with("dimension beyond int64", "[9223372036854775808]", "expected a list of whole numbers");
    with("product wraps to zero", "[65536,65536,65536,65536]", "has 12 bytes, expected as many");
    with("product in bytes wraps", "[65536,65536,65536,49152]", "has 12 bytes, expected as many");
    with("declares 16 GB", "[65536,65536]", "has 12 bytes, expected as many");
    with("fraction", "[1.0,3.0]", "expected a list of whole numbers");
    with("text", R"("3")", "field 'shape' is \"3\", expected a list");
    with("the other way round", "[3,1]", "has shape (3, 1), expected (1, 3)");
    with("flat", "[3]", "has shape (3), expected (1, 3)");
  }

  void AddTensors() {
    Replace("tensor of another name", "\"layers.0.bias\"", "\"layers.7.bias\"",
            "tensor 'layers.7.bias' is no part of a network");
    const std::string last = good_.header.substr(good_.header.rfind(",\"heads.logit.bias\""));
    const std::string end = last.substr(0, last.find("}}") + 1);
    Add("tensor missing", Forge(Replaced(end, ""), good_.data.substr(0, good_.data.size() - 4)),
        "tensor 'heads.logit.bias' is missing");
    const std::string at = std::to_string(good_.data.size());
    const std::string more = R"(,"more":{"dtype":"F32","shape":[1],"data_offsets":[)" + at + "," +
                             std::to_string(good_.data.size() + 4) + "]}";
    Add("tensor additional", Forge(Replaced(end, end + more), good_.data + Floats({1})),
        "tensor 'more' is no part of a network");
    std::string swapped = Replaced("\"layers.0.bias\"", "\"?\"");
    swapped.replace(swapped.find("\"layers.0.norm.bias\""), 20, "\"layers.0.bias\"");
    swapped.replace(swapped.find("\"?\""), 3, "\"layers.0.norm.bias\"");
    Add("tensors in another order", Forge(swapped, good_.data),
        "tensor 'layers.0.bias' is expected where 'layers.0.norm.bias' stands");
    std::string named =
        Replaced(R"("layers.0.bias":{"dtype":"F32","shape":[1],"data_offsets":[12,16]},)", "");
    named.insert(named.find("\"layers.0.weight\""),
                 R"("layers.0.bias":{"dtype":"F32","shape":[1],"data_offsets":[12,16]},)");
    Add("entries in another order", Forge(named, good_.data), "says it in other words");
    Add("no tensors", Forge(good_.header.substr(0, good_.header.find(",\"layers.0.w")) + "}", ""),
        "tensor 'layers.0.weight' is missing");
  }

  void AddData() {
    const std::string& data = good_.data;
    Add("data truncated", Forge(good_.header, data.substr(0, data.size() - 1)),
        "but the data has only");
    Add("data missing", Forge(good_.header, ""), "but the data has only 0");
    Add("trailing byte", Forge(good_.header, data + "x"), "bytes of data, expected");
    Add("trailing megabyte", Forge(good_.header, data + std::string(1 << 20, 'x')),
        "bytes of data, expected");
    const auto weight = [&](const std::string& name, float value) {
      std::string bad = data;
      std::memcpy(bad.data() + 12, &value, sizeof value);
      Add(name, Forge(good_.header, bad),
          "tensor 'layers.0.bias' holds a number that is not finite");
    };
    weight("NaN weight", std::numeric_limits<float>::quiet_NaN());
    weight("signalling NaN weight", std::numeric_limits<float>::signaling_NaN());
    weight("infinite weight", std::numeric_limits<float>::infinity());
    weight("negative infinite weight", -std::numeric_limits<float>::infinity());
    const HeaderAndData half = *Cut(*EncodeModel(TinyModel(), "tiny", WeightStorage::kHalf));
    for (const std::uint16_t number : {0x7c00, 0xfc00, 0x7e00, 0x7c01}) {
      std::string bad = half.data;
      std::memcpy(bad.data() + 6, &number, sizeof number);
      Add("half precision " + std::to_string(number), Forge(half.header, bad),
          "tensor 'layers.0.bias' holds a number that is not finite");
    }
    Add("half precision data for single", Forge(good_.header, half.data), "the data has only");
    Add("single precision data for half", Forge(half.header, data), "bytes of data, expected");
    Add("a recording", "t,x,y,z\n0.00,1.2,3.4,20.0\n", "expected at most 65536");
    Add("an ELF program",
        std::string("\x7f"
                    "ELF\x02\x01\x01\x00",
                    8) +
            std::string(200, '\0'),
        "expected at most 65536");
    Add("a pickle", "\x80\x02}q\x00X" + std::string(100, 'x'), "expected at most 65536");
  }

  HeaderAndData good_;
  std::vector<Malformed> all_;
};

}  // namespace aerocast
