// What several kernels are compared with, worked out once.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace bitwell::suite {

// make() of the first who asks for `key` among all values of type T; those who ask meanwhile wait for it.
template <class T, class Make>
std::shared_ptr<const T> once(const std::string& key, Make make) {
  struct Slot {
    std::once_flag made;
    std::shared_ptr<const T> value;
  };
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Slot>> all;
  std::shared_ptr<Slot> slot;
  {
    const std::scoped_lock lock(mutex);
    auto& found = all[key];
    if (!found) found = std::make_shared<Slot>();
    slot = found;
  }
  std::call_once(slot->made, [&] { slot->value = std::make_shared<const T>(make()); });
  return slot->value;
}

}  // namespace bitwell::suite
