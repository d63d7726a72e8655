/* Linked statically: the runner must say that it cannot help. */
int main(void) { return 0; }
