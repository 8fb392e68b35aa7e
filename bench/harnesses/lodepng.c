/* LodePNG: inspects and decodes a picture, converts and encodes it again; what is no picture is used as pixels, as
 * deflated data, and as a stream of chunks. */
#include "judged.h"
#include "lodepng.h"
#include <stdint.h>
#include <stdlib.h>

/* Pictures beyond this are a matter of memory, not of code. */
#define MAX_PIXELS (1u << 16)

static void judge_pixels(const unsigned char *pixels, size_t length) {
  judged_number((long)length);
  judged_bytes(pixels, length < 256 ? length : 256);
}

static void encode(const unsigned char *pixels, unsigned width, unsigned height, unsigned choice) {
  static const LodePNGColorType types[] = {LCT_GREY, LCT_RGB, LCT_GREY_ALPHA, LCT_RGBA};
  LodePNGState state;
  lodepng_state_init(&state);
  state.info_raw.colortype = types[choice & 3];
  state.info_raw.bitdepth = 8;
  state.info_png.interlace_method = choice >> 2 & 1;
  state.info_png.color.colortype = types[choice >> 3 & 3];
  state.encoder.auto_convert = choice >> 5 & 1;
  state.encoder.filter_strategy = (LodePNGFilterStrategy)(choice >> 6 & 3);
  state.encoder.add_id = 1;
  state.encoder.text_compression = choice & 1;
  state.encoder.zlibsettings.btype = choice % 3;
  state.encoder.zlibsettings.use_lz77 = choice >> 1 & 1;
  lodepng_add_text(&state.info_png, "Comment", "a short one");
  lodepng_add_itext(&state.info_png, "Title", "en", "Title", "longer");
  unsigned char *png = NULL;
  size_t size = 0;
  judged_number(lodepng_encode(&png, &size, pixels, width, height, &state));
  lodepng_state_cleanup(&state);
  if (png) {
    judge_pixels(png, size);
    /* What it wrote it must be able to read. */
    unsigned char *again = NULL;
    unsigned w, h;
    judged_number(lodepng_decode32(&again, &w, &h, png, size));
    free(again);
  }
  free(png);
}

static void decode(const uint8_t *data, size_t size) {
  LodePNGState state;
  unsigned width = 0, height = 0;
  lodepng_state_init(&state);
  unsigned error = lodepng_inspect(&width, &height, &state, data, size);
  judged_number(error);
  judged_text(lodepng_error_text(error));
  if (!error && (width > MAX_PIXELS || height > MAX_PIXELS / (width ? width : 1))) {
    lodepng_state_cleanup(&state);
    return;
  }
  /* Damaged on purpose as most inputs are, let it go on where it can. */
  state.decoder.ignore_crc = size ? data[size - 1] & 1 : 0;
  state.decoder.zlibsettings.ignore_adler32 = state.decoder.ignore_crc;
  state.decoder.color_convert = size ? data[size - 1] >> 1 & 1 : 1;
  state.decoder.remember_unknown_chunks = 1;
  unsigned char *pixels = NULL;
  error = lodepng_decode(&pixels, &width, &height, &state, data, size);
  judged_number(error);
  if (!error) {
    const LodePNGColorMode *mode = state.decoder.color_convert ? &state.info_raw : &state.info_png.color;
    judge_pixels(pixels, lodepng_get_raw_size(width, height, mode));
    judged_number(lodepng_get_bpp(mode) + lodepng_get_channels(mode) + lodepng_is_greyscale_type(mode) +
                  lodepng_is_alpha_type(mode) + lodepng_is_palette_type(mode) + lodepng_has_palette_alpha(mode) +
                  lodepng_can_have_alpha(mode));
    LodePNGColorStats stats;
    lodepng_color_stats_init(&stats);
    judged_number(lodepng_compute_color_stats(&stats, pixels, width, height, mode));
    judged_number((long)stats.numcolors);
    /* With everything the picture says about itself. */
    unsigned char *png = NULL;
    size_t length = 0;
    LodePNGState other;
    lodepng_state_init(&other);
    lodepng_state_copy(&other, &state);
    judged_number(lodepng_color_mode_copy(&other.info_raw, mode));
    judged_number(lodepng_encode(&png, &length, pixels, width, height, &other));
    judge_pixels(png, png ? length : 0);
    free(png);
    LodePNGColorMode grey = lodepng_color_mode_make(LCT_GREY, 16);
    unsigned char *converted = malloc(lodepng_get_raw_size(width, height, &grey) + 1);
    if (converted) {
      judged_number(lodepng_convert(converted, pixels, &grey, mode, width, height));
      judge_pixels(converted, lodepng_get_raw_size(width, height, &grey));
    }
    free(converted);
    lodepng_state_cleanup(&other);
  }
  free(pixels);
  lodepng_state_cleanup(&state);
}

static void walk_chunks(const uint8_t *data, size_t size) {
  const unsigned char *end = data + size;
  const unsigned char *chunk = data + 8;
  for (int n = 0; n < 32 && size >= 20 && chunk + 12 <= end; n++) {
    unsigned length = lodepng_chunk_length(chunk);
    if (length > (size_t)(end - chunk) - 12)
      break;
    char type[5];
    lodepng_chunk_type(type, chunk);
    judged_bytes(type, 4);
    judged_number(lodepng_chunk_ancillary(chunk) + 2 * lodepng_chunk_private(chunk) +
                  4 * lodepng_chunk_safetocopy(chunk) + 8 * lodepng_chunk_check_crc(chunk) +
                  16 * lodepng_chunk_type_equals(chunk, "IDAT"));
    chunk = lodepng_chunk_next_const(chunk, end);
  }
  if (size >= 20)
    judged_number(lodepng_chunk_find_const(data + 8, end, "tEXt") != NULL);
}

static void compress(const uint8_t *data, size_t size) {
  unsigned char *out = NULL;
  size_t length = 0;
  LodePNGDecompressSettings limits = lodepng_default_decompress_settings;
  limits.max_output_size = MAX_PIXELS;
  judged_number(lodepng_zlib_decompress(&out, &length, data, size, &limits));
  judge_pixels(out, out ? length : 0);
  free(out);
  out = NULL;
  length = 0;
  judged_number(lodepng_inflate(&out, &length, data, size, &limits));
  judge_pixels(out, out ? length : 0);
  free(out);
  out = NULL;
  length = 0;
  judged_number(lodepng_zlib_compress(&out, &length, data, size, &lodepng_default_compress_settings));
  judge_pixels(out, out ? length : 0);
  free(out);
  judged_number(lodepng_crc32(data, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  decode(data, size);
  walk_chunks(data, size);
  compress(data, size);
  /* The first byte says how the others are encoded, four bytes a pixel so that every type has enough. */
  if (size > 5) {
    size_t n_pixels = (size - 1) / 4;
    unsigned width = n_pixels < 7 ? 1 : 7;
    encode(data + 1, width, (unsigned)(n_pixels / width), data[0]);
  }
  return 0;
}
