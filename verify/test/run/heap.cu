// Device malloc and free, new and delete.
#include <cstdint>
#include <cstdlib>

struct Node {
  Node* next;
  uint32_t value;
};

// Every thread makes a list of its number and below, sums it, and frees it.
extern "C" __global__ void lists(uint32_t* sums) {
  Node* head = nullptr;
  for (uint32_t i = 0; i <= threadIdx.x; ++i) head = new Node{head, i};
  uint32_t sum = 0;
  while (head != nullptr) {
    sum += head->value;
    Node* next = head->next;
    delete head;
    head = next;
  }
  sums[threadIdx.x] = sum;
}

// How many objects of so many bytes there is room for.
extern "C" __global__ void fill(uint32_t* count, uint32_t bytes) {
  while (malloc(bytes) != nullptr) ++*count;
}

// Objects outlive the launch.
extern "C" __global__ void keep(uint32_t** kept) {
  *kept = static_cast<uint32_t*>(malloc(4));
  **kept = 77;
}
extern "C" __global__ void take(uint32_t** kept, uint32_t* out) {
  *out = **kept;
  free(*kept);
}

// One mistake each.
extern "C" __global__ void mistake(uint32_t* buffer, uint32_t which) {
  auto* p = static_cast<volatile uint32_t*>(malloc(40));
  if (which == 0) buffer[0] = p[10];
  if (which == 1) buffer[0] = p[3];
  p[0] = 1;
  free(const_cast<uint32_t*>(p));
  if (which == 2) buffer[0] = p[0];
  if (which == 3) p[1] = 2;
  if (which == 4) free(const_cast<uint32_t*>(p));
  if (which == 5) free(buffer);
  if (which == 6) free(const_cast<uint32_t*>(p + 1));
  if (which == 7) free(nullptr);
}
