/* Reads an image of 784 floats from standard input and says which digit it shows. No Python, no library but the C library. */
#include <stdio.h>
#include "digits.h"

int main(void) {
  static float image[DIGITS_INPUT_IMAGE_BYTES / sizeof(float)], logits[DIGITS_OUTPUT_RESULT0_BYTES / sizeof(float)];
  const void *inputs[] = {image};
  void *outputs[] = {logits};
  digits_context *context;
  if (digits_load("digits.safetensors", &context) != 0) {
    fprintf(stderr, "%s\n", digits_error(context));
    return 1;
  }
  while (fread(image, sizeof image, 1, stdin) == 1) {
    if (digits_run(context, inputs, outputs) != 0) fprintf(stderr, "%s\n", digits_error(context));
    int best = 0;
    for (int i = 1; i < 10; i++) best = logits[i] > logits[best] ? i : best;
    printf("%d %a\n", best, logits[best]);
  }
  digits_free(context);
  return 0;
}
