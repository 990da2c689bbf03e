#include "verify/driver/core/streams.h"

#include <algorithm>

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

Streams::Streams() = default;

Stream& Streams::make(unsigned flags, int priority, const void* owner) {
  if ((flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
  auto out = std::make_unique<Stream>();
  out->flags = flags;
  out->priority = std::clamp(priority, -5, 0);
  out->id = ++count_ + 16;
  out->owner = owner;
  return keep(streams_, std::move(out));
}

void Streams::destroy(const void* stream) {
  among(streams_, stream, "stream");
  streams_.erase(stream);
}

Stream& Streams::find(const void* stream) {
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return null_;
  if (stream == CU_STREAM_PER_THREAD) return per_thread_;
  return among(streams_, stream, "stream");
}

Event& Streams::make_event(unsigned flags) {
  constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  if ((flags & ~known) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
  if ((flags & CU_EVENT_INTERPROCESS) != 0 && (flags & CU_EVENT_DISABLE_TIMING) == 0)
    throw Refused(CUDA_ERROR_INVALID_VALUE);
  auto out = std::make_unique<Event>();
  out->flags = flags;
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
  graph(handle);
  graphs_.erase(handle);
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

GraphExec& Streams::instantiate(const Graph& graph, const void* owner) {
  auto out = std::make_unique<GraphExec>();
  out->owner = owner;
  for (const Node* n : graph.ordered())
    if (n->run) out->operations.push_back(n->run);
  return keep(execs_, std::move(out));
}

GraphExec& Streams::exec(const void* exec) {
  const auto at = execs_.find(exec);
  if (at == execs_.end()) throw Refused(CUDA_ERROR_INVALID_VALUE, "this is no instance of a graph");
  return *at->second;
}

void Streams::destroy_exec(const void* handle) {
  exec(handle);
  execs_.erase(handle);
}

void Streams::enqueue(State& s, const void* handle, CUgraphNodeType type, Operation run) {
  Stream& stream = find(handle);
  if (stream.capture == nullptr) {
    // The legacy stream waits for all others that do not say otherwise, and those cannot be waited for now.
    if (&stream == &null_)
      for (const auto& [key, other] : streams_)
        if (other->capture != nullptr && (other->flags & CU_STREAM_NON_BLOCKING) == 0 &&
            other->capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
          other->capture->invalid = true;
          throw Refused(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                        "the legacy stream would wait for a stream that is being captured");
        }
    run(s);
    return;
  }
  Capture& capture = *stream.capture;
  if (capture.invalid) throw Refused(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  Node& node = add(*capture.graph, type, std::move(run), nullptr, 0);
  if (capture.last != nullptr) node.after.push_back(capture.last);
  capture.last = &node;
}

void Streams::not_while_captured(const void* handle) {
  const Stream& stream = find(handle);
  if (stream.capture == nullptr) return;
  stream.capture->invalid = true;
  throw Refused(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream is being captured");
}

void Streams::not_while_any_is_captured() {
  for (const auto& [key, stream] : streams_)
    if (stream->capture != nullptr && stream->capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL) {
      stream->capture->invalid = true;
      throw Refused(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream is being captured, in the global mode");
    }
}

void Streams::begin(const void* handle, CUstreamCaptureMode mode, Graph* into) {
  Stream& stream = find(handle);
  if (&stream == &null_)
    throw Refused(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream cannot be captured");
  if (stream.capture != nullptr)
    throw Refused(CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
  auto capture = std::make_shared<Capture>();
  capture->graph = into != nullptr ? into : &make_graph();
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
  const std::shared_ptr<Capture> capture = std::move(stream.capture);
  stream.capture = nullptr;
  stream.begins = false;
  for (const auto& [key, other] : streams_)
    if (other->capture == capture) other->capture = nullptr;
  for (const auto& [key, event] : events_)
    if (event->capture == capture) event->capture = nullptr;
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
