/* libyaml: the same text through the scanner, the parser and the loader, and what was read emitted and dumped back
 * in several styles. */
#include "judged.h"
#include "yaml.h"
#include <stdint.h>

/* Emitters are told where to write; this much is kept. */
struct written {
  unsigned char bytes[1 << 14];
  size_t length;
};

static int keep(void *data, unsigned char *bytes, size_t length) {
  struct written *written = data;
  if (written->length + length > sizeof written->bytes)
    return 0;
  memcpy(written->bytes + written->length, bytes, length);
  written->length += length;
  return 1;
}

static void report(const yaml_parser_t *parser) {
  judged_number(parser->error);
  judged_number((long)parser->problem_mark.line);
  if (parser->problem)
    judged_text(parser->problem);
}

static void scan(const uint8_t *data, size_t size) {
  yaml_parser_t parser;
  if (!yaml_parser_initialize(&parser))
    return;
  yaml_parser_set_input_string(&parser, data, size);
  for (int going = 1; going;) {
    yaml_token_t token;
    if (!yaml_parser_scan(&parser, &token)) {
      report(&parser);
      break;
    }
    judged_number(token.type);
    going = token.type != YAML_STREAM_END_TOKEN;
    yaml_token_delete(&token);
  }
  yaml_parser_delete(&parser);
}

/* The first byte chooses how it is written, so that every style can be reached. */
static void style(yaml_emitter_t *emitter, unsigned choice) {
  yaml_emitter_set_canonical(emitter, choice & 1);
  yaml_emitter_set_unicode(emitter, choice >> 1 & 1);
  yaml_emitter_set_indent(emitter, 1 + (int)(choice >> 2 & 7));
  yaml_emitter_set_width(emitter, choice & 32 ? 20 : -1);
  yaml_emitter_set_break(emitter, choice & 64 ? YAML_CRLN_BREAK : choice & 128 ? YAML_CR_BREAK : YAML_LN_BREAK);
  static const yaml_encoding_t encodings[] = {YAML_UTF8_ENCODING, YAML_UTF16LE_ENCODING, YAML_UTF16BE_ENCODING};
  yaml_emitter_set_encoding(emitter, encodings[choice % 3]);
}

/* Events of the parser straight into an emitter. */
static void copy_events(const uint8_t *data, size_t size, unsigned choice) {
  static struct written written;
  written.length = 0;
  yaml_parser_t parser;
  yaml_emitter_t emitter;
  if (!yaml_parser_initialize(&parser))
    return;
  if (!yaml_emitter_initialize(&emitter)) {
    yaml_parser_delete(&parser);
    return;
  }
  yaml_parser_set_input_string(&parser, data, size);
  yaml_emitter_set_output(&emitter, keep, &written);
  style(&emitter, choice);
  for (int going = 1; going;) {
    yaml_event_t event;
    if (!yaml_parser_parse(&parser, &event)) {
      report(&parser);
      break;
    }
    going = event.type != YAML_STREAM_END_EVENT;
    /* The emitter owns the event from here, whatever it answers. */
    if (!yaml_emitter_emit(&emitter, &event)) {
      judged_number(emitter.error);
      break;
    }
  }
  yaml_emitter_flush(&emitter);
  yaml_emitter_delete(&emitter);
  yaml_parser_delete(&parser);
  judged_bytes(written.bytes, written.length);
}

/* Adds to a document what nothing in the text may have: one node of each kind. */
static void extend(yaml_document_t *document) {
  int list = yaml_document_add_sequence(document, NULL, YAML_FLOW_SEQUENCE_STYLE);
  int table = yaml_document_add_mapping(document, NULL, YAML_BLOCK_MAPPING_STYLE);
  int word = yaml_document_add_scalar(document, NULL, (const yaml_char_t *)"a: b\n c", -1, YAML_ANY_SCALAR_STYLE);
  if (!list || !table || !word)
    return;
  yaml_document_append_sequence_item(document, list, word);
  yaml_document_append_mapping_pair(document, table, word, list);
  yaml_node_t *root = yaml_document_get_root_node(document);
  if (root && root->type == YAML_SEQUENCE_NODE)
    yaml_document_append_sequence_item(document, (int)(root - document->nodes.start) + 1, table);
  if (root && root->type == YAML_MAPPING_NODE)
    yaml_document_append_mapping_pair(document, (int)(root - document->nodes.start) + 1, word, table);
}

/* How many nodes are below, by kind. A document may contain itself, so only so many are looked at. */
static long weigh(yaml_document_t *document, int index, int *left) {
  yaml_node_t *node = yaml_document_get_node(document, index);
  if (!node || --*left < 0)
    return 0;
  long sum = node->type;
  if (node->type == YAML_SCALAR_NODE)
    return sum + (long)node->data.scalar.length;
  if (node->type == YAML_SEQUENCE_NODE) {
    yaml_node_item_t *item = node->data.sequence.items.start;
    for (; *left > 0 && item < node->data.sequence.items.top; item++)
      sum += weigh(document, *item, left);
  }
  if (node->type == YAML_MAPPING_NODE) {
    yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; *left > 0 && pair < node->data.mapping.pairs.top; pair++)
      sum += weigh(document, pair->key, left) + weigh(document, pair->value, left);
  }
  return sum;
}

/* Whole documents, dumped again. */
static void copy_documents(const uint8_t *data, size_t size, unsigned choice) {
  static struct written written;
  written.length = 0;
  yaml_parser_t parser;
  yaml_emitter_t emitter;
  if (!yaml_parser_initialize(&parser))
    return;
  if (!yaml_emitter_initialize(&emitter)) {
    yaml_parser_delete(&parser);
    return;
  }
  yaml_parser_set_input_string(&parser, data, size);
  if (choice & 1)
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
  yaml_emitter_set_output(&emitter, keep, &written);
  style(&emitter, choice >> 1);
  if (yaml_emitter_open(&emitter)) {
    for (;;) {
      yaml_document_t document;
      if (!yaml_parser_load(&parser, &document)) {
        report(&parser);
        break;
      }
      if (!yaml_document_get_root_node(&document)) {
        yaml_document_delete(&document);
        break;
      }
      int left = 200;
      judged_number(weigh(&document, 1, &left));
      extend(&document);
      /* The emitter frees the document. */
      if (!yaml_emitter_dump(&emitter, &document)) {
        judged_number(emitter.error);
        break;
      }
    }
    yaml_emitter_close(&emitter);
  }
  yaml_emitter_delete(&emitter);
  yaml_parser_delete(&parser);
  judged_bytes(written.bytes, written.length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  unsigned choice = size ? data[size - 1] : 0;
  scan(data, size);
  copy_events(data, size, choice);
  copy_documents(data, size, choice);
  return 0;
}
