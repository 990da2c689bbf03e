// Streams, events and graphs: everything is done when it is asked for, in the order in which it is asked for,
// so that all has always ended. A graph is a log of what was asked for while a stream was captured.
#pragma once
#include <cuda.h>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "verify/driver/core/refused.h"

namespace bitwell::driver {

struct State;
struct Kernel;

using Operation = std::function<void(State&)>;

struct Graph;

struct Node {
  Graph* graph = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  Operation run{};
  std::vector<Node*> after{};  // each was added before, or cuGraphAddDependencies said so
};

// A CUuserObject, which ends with the last reference to it.
struct UserObject {
  void* data = nullptr;
  CUhostFn destroy = nullptr;
  uint64_t references = 0;
};
using Retained = std::map<const void*, uint64_t>;  // objects, and how often

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes{};
  Retained objects{};
  // By dependencies, and else as they were added. Refused where they go round.
  std::vector<const Node*> ordered() const;
};

struct GraphExec {
  std::vector<Operation> operations{};  // one for each node, that of some is empty
  std::vector<const void*> nodes{};     // of the graph that it was made of
  Retained objects{};
  uint64_t flags = 0;
};

// Streams that one cuStreamBeginCapture has led to.
struct Capture {
  Graph* graph = nullptr;  // none from when it was destroyed on
  bool made = false;       // for it
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  uint64_t id = 0;
  bool invalid = false;
  std::vector<Node*> last{};  // what the next node depends on
};

// As cuStreamSetAttribute has them, where they say how a launch is scheduled: no result hangs on them here.
using Attributes = std::map<CUstreamAttrID, CUstreamAttrValue>;

struct Stream {
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  std::shared_ptr<Capture> capture{};
  bool begins = false;  // whether cuStreamBeginCapture was called for it
  const void* owner = nullptr;
  Attributes attributes{};
};

struct Event {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point when{};
  std::shared_ptr<Capture> capture{};  // in which it was recorded
  const void* owner = nullptr;
};

class Streams {
 public:
  Stream& make(unsigned flags, int priority, const void* owner);
  void destroy(const void* stream);
  // NULL, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD, of which each thread has its own, are always there.
  // Refused CUDA_ERROR_INVALID_HANDLE else.
  Stream& find(const void* stream);

  Event& make_event(unsigned flags, const void* owner);
  void destroy_event(const void* event);
  Event& event(const void* event);

  Graph& make_graph();
  Graph& graph(const void* graph);
  void destroy_graph(const void* graph);
  Node& node(const void* node);
  Node& add(Graph& graph, CUgraphNodeType type, Operation run, const CUgraphNode* after, size_t count);
  // Refused where a node is of another graph, or depends so already, or on itself.
  void depend(const Graph& graph, const CUgraphNode* from, const CUgraphNode* to, size_t count);
  Graph& clone(const Graph& graph);
  GraphExec& instantiate(const Graph& graph, uint64_t flags);
  GraphExec& exec(const void* exec);
  // What such a node does, in its graph or in an instance. Refused where it is none, or of another type.
  Operation& operation(const void* node, CUgraphNodeType type);
  Operation& operation(const void* exec, const void* node, CUgraphNodeType type);
  void destroy_exec(const void* exec);

  UserObject& make_object(void* data, CUhostFn at_end, unsigned references);
  void retain(const void* object, uint64_t count);
  void release(const void* object, uint64_t count);
  // What a graph holds; `move`: the program's own references become the graph's.
  void retain(Graph& graph, const void* object, uint64_t count, bool move);
  void release(Graph& graph, const void* object, uint64_t count);
  void retain(Retained& to, const Retained& from);

  // Of a context that ends.
  void release_all(const void* owner);

  // At once, or into the graph that the stream is captured to.
  void enqueue(State& s, const void* stream, CUgraphNodeType type, Operation run);
  // What is not done while anything is captured in this mode: synchronisation, allocation.
  void not_while_captured(const void* stream);
  void not_while_any_is_captured();

  // `after`: nodes of `into` on which the first that is captured depends.
  void begin(const void* stream, CUstreamCaptureMode mode, Graph* into, const CUgraphNode* after,
             size_t count);
  Graph& end(const void* stream);
  // `external`: of a captured stream, whenever the graph is launched.
  void record(State& s, const void* event, const void* stream, bool external = false);
  void wait(const void* stream, const void* event);

 private:
  // Those that can be captured.
  template <class F>
  void each(F f) {
    for (auto& [number, stream] : per_thread_) f(stream);
    for (const auto& [key, stream] : streams_) f(*stream);
  }
  // Nothing is captured by it any more.
  void leave(const std::shared_ptr<Capture>& capture);
  void release(const Retained& all);
  // By a number that no other thread has had.
  std::map<uint64_t, Stream> per_thread_;
  Stream null_{.id = 7};
  std::map<const void*, std::unique_ptr<Stream>> streams_;
  std::map<const void*, std::unique_ptr<Event>> events_;
  std::map<const void*, std::unique_ptr<Graph>> graphs_;
  std::map<const void*, std::unique_ptr<GraphExec>> execs_;
  std::map<const void*, std::unique_ptr<UserObject>> objects_;
  uint64_t count_ = 0, captures_ = 0;
};

}  // namespace bitwell::driver
