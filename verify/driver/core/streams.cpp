#include "verify/driver/core/streams.h"

#include <algorithm>
#include <atomic>

#include "verify/driver/core/state.h"

namespace bitwell::driver {
namespace {

template <class T>
T& among(const std::map<const void*, std::unique_ptr<T>>& all, const void* handle, const char* what) {
  const auto at = all.find(handle);
  if (at == all.end())
    throw Refused(CUDA_ERROR_INVALID_HANDLE, std::string("this is no ") + what + " of the process");
  return *at->second;
}
template <class T>
T& keep(std::map<const void*, std::unique_ptr<T>>& all, std::unique_ptr<T> one) {
  T* const key = one.get();
  return *(all[key] = std::move(one));
}

// An H200's driver (580.159) numbers the legacy stream 7, and those that a program makes from 13 on.
constexpr uint64_t kReserved = 12;

}  // namespace

std::vector<const Node*> Graph::ordered() const {
  std::vector<const Node*> out;
  std::set<const Node*> done;
  while (out.size() < nodes.size()) {
    const size_t before = out.size();
    for (const auto& n : nodes)
      if (!done.contains(n.get()) &&
          std::all_of(n->after.begin(), n->after.end(), [&](const Node* a) { return done.contains(a); })) {
        out.push_back(n.get());
        done.insert(n.get());
      }
    if (out.size() == before)
      throw Refused(CUDA_ERROR_INVALID_VALUE, "the graph's dependencies go round in a circle");
  }
  return out;
}

Stream& Streams::make(unsigned flags, int priority, const void* owner) {
  if ((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
  auto out = std::make_unique<Stream>();
  out->flags = flags;
  out->priority = std::clamp(priority, -5, 0);
  out->id = ++count_ + kReserved;
  out->owner = owner;
  return keep(streams_, std::move(out));
}

void Streams::destroy(const void* handle) {
  const Stream& stream = among(streams_, handle, "stream");
  if (stream.begins) leave(std::shared_ptr<Capture>(stream.capture));
  streams_.erase(handle);
}

void Streams::leave(const std::shared_ptr<Capture>& capture) {
  each([&](Stream& stream) {
    if (stream.capture != capture) return;
    stream.capture = nullptr;
    stream.begins = false;
  });
  for (const auto& [key, event] : events_)
    if (event->capture == capture) event->capture = nullptr;
  if (capture->invalid && capture->made && capture->graph != nullptr) destroy_graph(capture->graph);
}

void Streams::release_all(const void* owner) {
  const auto of = [&](const auto& all) {
    std::vector<const void*> out;
    for (const auto& [key, one] : all)
      if (one->owner == owner) out.push_back(key);
    return out;
  };
  for (const void* const stream : of(streams_)) destroy(stream);
  for (const void* const event : of(events_)) destroy_event(event);
}

Stream& Streams::find(const void* stream) {
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return null_;
  if (stream == CU_STREAM_PER_THREAD) {
    static std::atomic<uint64_t> threads = 0;
    static thread_local const uint64_t thread = ++threads;
    Stream& own = per_thread_[thread];
    if (own.id == 0) own.id = ++count_ + kReserved;
    return own;
  }
  return among(streams_, stream, "stream");
}

Event& Streams::make_event(unsigned flags, const void* owner) {
  constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if ((flags & ~known) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0)
    throw Refused(CUDA_ERROR_INVALID_VALUE);
  auto out = std::make_unique<Event>();
  out->flags = flags;
  out->owner = owner;
  return keep(events_, std::move(out));
}

void Streams::destroy_event(const void* event) {
  among(events_, event, "event");
  events_.erase(event);
}

Event& Streams::event(const void* event) { return among(events_, event, "event"); }

Graph& Streams::make_graph() { return keep(graphs_, std::make_unique<Graph>()); }

Graph& Streams::graph(const void* graph) {
  const auto at = graphs_.find(graph);
  if (at == graphs_.end()) throw Refused(CUDA_ERROR_INVALID_VALUE, "this is no graph of the process");
  return *at->second;
}

void Streams::destroy_graph(const void* handle) {
  Graph& gone = graph(handle);
  each([&](Stream& stream) {
    if (stream.capture == nullptr || stream.capture->graph != &gone) return;
    stream.capture->invalid = true;
    stream.capture->graph = nullptr;
    stream.capture->last.clear();
  });
  const Retained objects = std::move(gone.objects);
  graphs_.erase(handle);
  release(objects);
}

UserObject& Streams::make_object(void* data, CUhostFn at_end, unsigned references) {
  auto out = std::make_unique<UserObject>();
  *out = {data, at_end, references};
  return keep(objects_, std::move(out));
}

void Streams::retain(const void* object, uint64_t count) {
  among(objects_, object, "user object").references += count;
}

void Streams::release(const void* handle, uint64_t count) {
  UserObject& object = among(objects_, handle, "user object");
  if (count > object.references)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "the object has " + std::to_string(object.references) +
                                                " references, " + std::to_string(count) + " are released");
  object.references -= count;
  if (object.references != 0) return;
  const UserObject gone = object;
  objects_.erase(handle);
  gone.destroy(gone.data);
}

void Streams::retain(Graph& graph, const void* object, uint64_t count, bool move) {
  const UserObject& held = among(objects_, object, "user object");
  if (move && count > held.references) throw Refused(CUDA_ERROR_INVALID_VALUE);
  if (!move) retain(object, count);
  graph.objects[object] += count;
}

void Streams::release(Graph& graph, const void* object, uint64_t count) {
  const auto at = graph.objects.find(object);
  if (at == graph.objects.end() || count > at->second)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "the graph does not hold the object so often");
  if ((at->second -= count) == 0) graph.objects.erase(at);
  release(object, count);
}

void Streams::retain(Retained& to, const Retained& from) {
  for (const auto& [object, count] : from) {
    retain(object, count);
    to[object] += count;
  }
}

void Streams::release(const Retained& all) {
  for (const auto& [object, count] : all) release(object, count);
}

Node& Streams::node(const void* node) {
  for (const auto& [key, graph] : graphs_)
    for (const auto& n : graph->nodes)
      if (n.get() == node) return *n;
  throw Refused(CUDA_ERROR_INVALID_VALUE, "this is no node of a graph");
}

Node& Streams::add(Graph& graph, CUgraphNodeType type, Operation run, const CUgraphNode* after,
                   size_t count) {
  auto out = std::make_unique<Node>();
  out->graph = &graph;
  out->type = type;
  out->run = std::move(run);
  for (size_t i = 0; i < count; ++i) {
    Node& before = node(after[i]);
    if (before.graph != &graph) throw Refused(CUDA_ERROR_INVALID_VALUE, "a dependency is of another graph");
    out->after.push_back(&before);
  }
  graph.nodes.push_back(std::move(out));
  return *graph.nodes.back();
}

void Streams::depend(const Graph& graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const Node &before = node(from[i]), &after = node(to[i]);
    if (before.graph != &graph || after.graph != &graph)
      throw Refused(CUDA_ERROR_INVALID_VALUE, "a node is of another graph");
    if (&before == &after) throw Refused(CUDA_ERROR_INVALID_VALUE, "a node would depend on itself");
    bool twice = std::find(after.after.begin(), after.after.end(), &before) != after.after.end();
    for (size_t j = 0; j < i; ++j) twice |= from[j] == from[i] && to[j] == to[i];
    if (twice) throw Refused(CUDA_ERROR_INVALID_VALUE, "the dependency is there already");
  }
  for (size_t i = 0; i < count; ++i) node(to[i]).after.push_back(&node(from[i]));
}

GraphExec& Streams::instantiate(const Graph& graph, uint64_t flags) {
  auto out = std::make_unique<GraphExec>();
  out->flags = flags;
  for (const Node* n : graph.ordered()) {
    out->operations.push_back(n->run);
    out->nodes.push_back(n);
  }
  retain(out->objects, graph.objects);
  return keep(execs_, std::move(out));
}

Graph& Streams::clone(const Graph& graph) {
  auto out = std::make_unique<Graph>();
  std::map<const Node*, Node*> of;
  for (const auto& n : graph.nodes) {
    out->nodes.push_back(std::make_unique<Node>(*n));
    of[n.get()] = out->nodes.back().get();
  }
  for (const auto& n : out->nodes) {
    n->graph = out.get();
    for (Node*& before : n->after) before = of.at(before);
  }
  retain(out->objects, graph.objects);
  return keep(graphs_, std::move(out));
}

Operation& Streams::operation(const void* handle, CUgraphNodeType type) {
  Node& of = node(handle);
  if (of.type != type) throw Refused(CUDA_ERROR_INVALID_VALUE, "the node is of another type");
  return of.run;
}

Operation& Streams::operation(const void* handle, const void* node, CUgraphNodeType type) {
  GraphExec& in = exec(handle);
  operation(node, type);
  const auto at = std::find(in.nodes.begin(), in.nodes.end(), node);
  if (at == in.nodes.end())
    throw Refused(CUDA_ERROR_INVALID_VALUE, "the node is of another graph than the instance");
  return in.operations[static_cast<size_t>(at - in.nodes.begin())];
}

GraphExec& Streams::exec(const void* exec) {
  const auto at = execs_.find(exec);
  if (at == execs_.end()) throw Refused(CUDA_ERROR_INVALID_VALUE, "this is no instance of a graph");
  return *at->second;
}

void Streams::destroy_exec(const void* handle) {
  const Retained objects = std::move(exec(handle).objects);
  execs_.erase(handle);
  release(objects);
}

void Streams::enqueue(State& s, const void* handle, CUgraphNodeType type, Operation run) {
  Stream& stream = find(handle);
  if (stream.capture == nullptr) {
    // The legacy stream waits for all others that do not say otherwise, and those cannot be waited for now.
    if (&stream == &null_)
      each([](const Stream& other) {
        if (other.capture == nullptr || (other.flags & CU_STREAM_NON_BLOCKING) != 0 ||
            other.capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
          return;
        other.capture->invalid = true;
        throw Refused(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                      "the legacy stream would wait for a stream that is being captured");
      });
    run(s);
    return;
  }
  Capture& capture = *stream.capture;
  if (capture.invalid) throw Refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  Node& node = add(*capture.graph, type, std::move(run), nullptr, 0);
  node.after = capture.last;
  capture.last = {&node};
}

void Streams::not_while_captured(const void* handle) {
  const Stream& stream = find(handle);
  if (stream.capture == nullptr) return;
  stream.capture->invalid = true;
  throw Refused(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured");
}

void Streams::not_while_any_is_captured() {
  each([](const Stream& stream) {
    if (stream.capture == nullptr || stream.capture->mode != CU_STREAM_CAPTURE_MODE_GLOBAL) return;
    stream.capture->invalid = true;
    throw Refused(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream is being captured, in the global mode");
  });
}

void Streams::begin(const void* handle, CUstreamCaptureMode mode, Graph* into, const CUgraphNode* after,
                    size_t count) {
  Stream& stream = find(handle);
  if (&stream == &null_)
    throw Refused(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured");
  if (stream.capture != nullptr)
    throw Refused(CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
  auto capture = std::make_shared<Capture>();
  if (after == nullptr && count != 0) throw Refused(CUDA_ERROR_INVALID_VALUE, "dependencies are NULL");
  for (size_t i = 0; i < count; ++i) {
    Node& before = node(after[i]);
    if (before.graph != into) throw Refused(CUDA_ERROR_INVALID_VALUE, "a dependency is of another graph");
    capture->last.push_back(&before);
  }
  capture->graph = into != nullptr ? into : &make_graph();
  capture->made = into == nullptr;
  capture->mode = mode;
  capture->id = ++captures_;
  stream.capture = capture;
  stream.begins = true;
}

Graph& Streams::end(const void* handle) {
  Stream& stream = find(handle);
  if (stream.capture == nullptr) throw Refused(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
  if (!stream.begins)
    throw Refused(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began in another stream");
  const std::shared_ptr<Capture> capture = stream.capture;
  leave(capture);
  if (capture->invalid) throw Refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  return *capture->graph;
}

void Streams::record(State& s, const void* handle, const void* stream, bool external) {
  Event& e = event(handle);
  const Stream& in = find(stream);
  if (in.capture != nullptr && !external) {  // no node: what waits for it joins the capture
    e.capture = in.capture;
    return;
  }
  if (in.capture != nullptr) {
    enqueue(s, stream, CU_GRAPH_NODE_TYPE_EVENT_RECORD, [handle](State& at) {
      Event& now = at.streams.event(handle);
      now.recorded = true;
      now.when = std::chrono::steady_clock::now();
    });
    return;
  }
  e.capture = nullptr;
  e.recorded = true;
  e.when = std::chrono::steady_clock::now();
}

void Streams::wait(const void* handle, const void* event_handle) {
  Stream& stream = find(handle);
  const Event& e = event(event_handle);
  if (e.capture == nullptr) {
    if (stream.capture != nullptr && !e.recorded) return;
    if (stream.capture != nullptr)
      throw Refused(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "the event was recorded outside of the capture");
    return;
  }
  if (stream.capture == nullptr)
    stream.capture = e.capture;  // it joins
  else if (stream.capture != e.capture)
    throw Refused(CUDA_ERROR_STREAM_CAPTURE_MERGE, "the event is of another capture");
}

}  // namespace bitwell::driver
