/* cJSON: reads a document, asks everything about it, prints, copies, changes, compares, patches and frees it. */
#include "cJSON.h"
#include "cJSON_Utils.h"
#include "judged.h"
#include <stdint.h>
#include <stdlib.h>

/* Says what kind of value it is, and what is below it. */
static long walk(const cJSON *item, int depth) {
  if (!item || depth > 64)
    return 0;
  long sum = cJSON_IsInvalid(item) + 2 * cJSON_IsFalse(item) + 3 * cJSON_IsTrue(item) + 4 * cJSON_IsBool(item) +
             5 * cJSON_IsNull(item) + 6 * cJSON_IsNumber(item) + 7 * cJSON_IsString(item) + 8 * cJSON_IsArray(item) +
             9 * cJSON_IsObject(item) + 10 * cJSON_IsRaw(item);
  if (cJSON_GetStringValue(item))
    sum += (long)strlen(cJSON_GetStringValue(item));
  if (cJSON_GetNumberValue(item) > 0)
    sum++;
  int n = cJSON_GetArraySize(item);
  for (int i = 0; i < n && i < 8; i++)
    sum += walk(cJSON_GetArrayItem(item, i), depth + 1);
  const cJSON *child;
  cJSON_ArrayForEach(child, item) {
    if (!child->string)
      break;
    sum += cJSON_HasObjectItem(item, child->string) + (cJSON_GetObjectItem(item, child->string) == child) +
           (cJSON_GetObjectItemCaseSensitive(item, child->string) == child);
  }
  return sum;
}

static void print_all(cJSON *json) {
  char *text = cJSON_Print(json);
  if (text)
    judged_text(text);
  cJSON_free(text);
  text = cJSON_PrintUnformatted(json);
  if (text) {
    /* What it printed it must be able to read. */
    cJSON *again = cJSON_Parse(text);
    judged_number(again != NULL);
    cJSON_Delete(again);
    cJSON_Minify(text);
    judged_text(text);
  }
  cJSON_free(text);
  text = cJSON_PrintBuffered(json, 3, 1);
  cJSON_free(text);
  static char buffer[4096];
  judged_number(cJSON_PrintPreallocated(json, buffer, sizeof buffer, 0));
}

/* Builds a document of every kind of value around `json`, takes it apart again. */
static void change(cJSON *json) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddNullToObject(object, "null");
  cJSON_AddTrueToObject(object, "true");
  cJSON_AddFalseToObject(object, "false");
  cJSON_AddBoolToObject(object, "bool", cJSON_IsArray(json));
  cJSON_AddNumberToObject(object, "number", cJSON_GetArraySize(json));
  cJSON_AddStringToObject(object, "string", json->valuestring ? json->valuestring : "");
  cJSON_AddRawToObject(object, "raw", "[1]");
  cJSON *array = cJSON_AddArrayToObject(object, "array");
  cJSON_AddObjectToObject(object, "object");
  const int numbers[] = {1, -2};
  const double doubles[] = {0.5, 1e300};
  const float floats[] = {0.25f};
  const char *const strings[] = {"a", "b"};
  cJSON_AddItemToArray(array, cJSON_CreateIntArray(numbers, 2));
  cJSON_AddItemToArray(array, cJSON_CreateDoubleArray(doubles, 2));
  cJSON_AddItemToArray(array, cJSON_CreateFloatArray(floats, 1));
  cJSON_InsertItemInArray(array, 1, cJSON_CreateStringArray(strings, 2));
  cJSON_ReplaceItemInArray(array, 0, cJSON_CreateString("replaced"));
  cJSON_AddItemReferenceToArray(array, json);
  cJSON_AddItemReferenceToObject(object, "reference", json);
  cJSON_ReplaceItemInObject(object, "TRUE", cJSON_CreateFalse());
  cJSON_ReplaceItemInObjectCaseSensitive(object, "null", cJSON_CreateNumber(1));
  cJSON_SetNumberValue(cJSON_GetObjectItem(object, "number"), 7);
  cJSON_SetValuestring(cJSON_GetObjectItem(object, "string"), "longer than it was");
  char *text = cJSON_PrintUnformatted(object);
  if (text)
    judged_text(text);
  cJSON_free(text);
  cJSON_Delete(cJSON_DetachItemFromArray(array, 1));
  cJSON_DeleteItemFromArray(array, 0);
  cJSON_Delete(cJSON_DetachItemFromObject(object, "raw"));
  cJSON_Delete(cJSON_DetachItemFromObjectCaseSensitive(object, "false"));
  cJSON_DeleteItemFromObject(object, "BOOL");
  cJSON_DeleteItemFromObjectCaseSensitive(object, "object");
  judged_number(walk(object, 0));
  cJSON_Delete(object);
}

/* `{"doc": …, "patch": […], "merge": …, "pointer": "/a/0"}` exercises RFC 6901, 6902 and 7396. */
static void patch(const cJSON *json) {
  cJSON *document = cJSON_Duplicate(cJSON_GetObjectItem(json, "doc"), 1);
  if (!document)
    return;
  const cJSON *pointer = cJSON_GetObjectItem(json, "pointer");
  if (cJSON_IsString(pointer)) {
    cJSON *found = cJSONUtils_GetPointer(document, pointer->valuestring);
    judged_number(cJSONUtils_GetPointerCaseSensitive(document, pointer->valuestring) == found);
    if (found) {
      char *path = cJSONUtils_FindPointerFromObjectTo(document, found);
      if (path)
        judged_text(path);
      cJSON_free(path);
    }
  }
  cJSON *patches = cJSON_GetObjectItem(json, "patch");
  cJSON *sensitive = cJSON_Duplicate(document, 1);
  judged_number(cJSONUtils_ApplyPatches(document, patches));
  judged_number(cJSONUtils_ApplyPatchesCaseSensitive(sensitive, patches));
  cJSON *merge = cJSON_GetObjectItem(json, "merge");
  if (merge) {
    document = cJSONUtils_MergePatch(document, merge);
    sensitive = cJSONUtils_MergePatchCaseSensitive(sensitive, merge);
  }
  char *text = cJSON_PrintUnformatted(document);
  if (text)
    judged_text(text);
  cJSON_free(text);
  cJSON_Delete(document);
  cJSON_Delete(sensitive);
}

/* The difference between two documents, applied to the first, gives the second. */
static void differ(cJSON *first, cJSON *second) {
  cJSONUtils_SortObject(second);
  cJSONUtils_SortObjectCaseSensitive(second);
  if (cJSON_IsObject(second))
    cJSON_AddStringToObject(second, "added~/", "by us");
  cJSON *patches = cJSONUtils_GeneratePatches(first, second);
  cJSON *sensitive = cJSONUtils_GeneratePatchesCaseSensitive(first, second);
  cJSON *merge = cJSONUtils_GenerateMergePatch(first, second);
  cJSON *other_merge = cJSONUtils_GenerateMergePatchCaseSensitive(first, second);
  judged_number(cJSON_GetArraySize(patches));
  if (cJSON_IsArray(patches))
    cJSONUtils_AddPatchToArray(patches, "add", "/x", NULL);
  judged_number(cJSONUtils_ApplyPatchesCaseSensitive(first, sensitive));
  judged_number(cJSON_Compare(first, second, 1));
  cJSON_Delete(patches);
  cJSON_Delete(sensitive);
  cJSON_Delete(merge);
  cJSON_Delete(other_merge);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *end = NULL;
  char *text = malloc(size + 1);
  if (!text)
    return 0;
  memcpy(text, data, size);
  text[size] = 0;
  cJSON *json = cJSON_ParseWithLengthOpts((const char *)data, size, &end, 0);
  cJSON *strict = cJSON_ParseWithOpts(text, NULL, 1);
  judged_number(strict != NULL);
  if (json) {
    judged_number(end - (const char *)data);
    judged_number(walk(json, 0));
    print_all(json);
    cJSON *copy = cJSON_Duplicate(json, 1);
    judged_number(cJSON_Compare(json, copy, 1) + 2 * cJSON_Compare(json, copy, 0));
    change(json);
    patch(json);
    if (copy)
      differ(json, copy);
    cJSON_Delete(copy);
  } else {
    const char *error = cJSON_GetErrorPtr();
    judged_number(error != NULL);
  }
  cJSON_Minify(text);
  judged_text(text);
  cJSON_Delete(strict);
  cJSON_Delete(json);
  free(text);
  return 0;
}
