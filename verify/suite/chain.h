// Launches that follow one another, the later reading what the earlier wrote.
#pragma once
#include <functional>
#include <vector>

#include "verify/launch/launch.h"

namespace bitwell::verify {

struct Chain {
  // Buffer `to_buffer` of launch `to` is buffer `from_buffer` of the earlier launch `from`.
  struct Link {
    size_t from, from_buffer, to, to_buffer;
  };
  std::vector<Launch> launches;
  std::vector<Link> links;
};

// Gives every launch in order to `subject`, which leaves its buffers as the kernel does.
inline void run(Chain& chain, const std::function<void(Launch&)>& subject) {
  for (size_t i = 0; i < chain.launches.size(); ++i) {
    for (const Chain::Link& link : chain.links)
      if (link.to == i)
        chain.launches[i].buffers[link.to_buffer].bytes =
            chain.launches[link.from].buffers[link.from_buffer].bytes;
    subject(chain.launches[i]);
  }
}

}  // namespace bitwell::verify
