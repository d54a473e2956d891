// Ring all_reduce on SimGrid, by its own interface S4U: reads nothing, prints one line of JSON.
//
//     g++ -O2 -o ring ring.cpp -lsimgrid && ./ring 1024 1073741824 1e-6 900e9
//
// Every rank is an actor that in each of 2 (P - 1) steps sends n / P bytes to its right and
// waits for those of its left. Hosts have one link up and one down, each for one direction,
// so that a message takes alpha + bytes / bandwidth, as in the other models: what SimGrid's
// model of TCP adds (window, factors, cross traffic) is switched off.
#include <simgrid/s4u.hpp>
#include <simgrid/version.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <sys/resource.h>
#include <vector>

namespace sg = simgrid::s4u;

static double cpu_seconds()
{
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + 1e-6 * (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

int main(int argc, char** argv)
{
  const int ranks        = std::atoi(argv[1]);
  const double nbytes    = std::atof(argv[2]);
  const double alpha     = std::atof(argv[3]);
  const double bandwidth = std::atof(argv[4]);
  const double began     = cpu_seconds();

  int few          = 1;
  char* own[]      = {argv[0], nullptr};
  sg::Engine engine(&few, own);
  for (const char* setting : {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0",
                              "network/weight-S:0", "network/bandwidth-factor:1", "network/latency-factor:1",
                              "contexts/factory:raw", "contexts/stack-size:16"})
    sg::Engine::set_config(std::string(setting));

  auto* zone = sg::create_star_zone("zone");
  std::vector<sg::Host*> hosts;
  std::vector<sg::Mailbox*> boxes;
  for (int rank = 0; rank < ranks; rank++) {
    const auto name = std::to_string(rank);
    auto* host      = zone->create_host(name, 1e9)->seal();
    // Half of alpha on the way up, half on the way down.
    auto* up   = zone->create_link("up" + name, bandwidth)->set_latency(alpha / 2)->seal();
    auto* down = zone->create_link("down" + name, bandwidth)->set_latency(alpha / 2)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr, {sg::LinkInRoute(up)}, false);
    zone->add_route(nullptr, host->get_netpoint(), nullptr, nullptr, {sg::LinkInRoute(down)}, false);
    hosts.push_back(host);
    boxes.push_back(sg::Mailbox::by_name(name));
  }
  zone->seal();

  static int token; // what is sent does not matter
  for (int rank = 0; rank < ranks; rank++) {
    auto* left_box  = boxes[rank];
    auto* right_box = boxes[(rank + 1) % ranks];
    sg::Actor::create("rank", hosts[rank], [=]() {
      for (int step = 0; step < 2 * (ranks - 1); step++) {
        void* got    = nullptr;
        auto sending = right_box->put_async(&token, nbytes / ranks);
        auto coming  = left_box->get_async<void>(&got);
        coming->wait();
        sending->wait();
      }
    });
  }
  engine.run();

  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  int major, minor, patch;
  sg_version_get(&major, &minor, &patch);
  std::printf("{\"makespan\": %.17g, \"seconds\": %.6f, \"peak_kib\": %ld, \"version\": \"%d.%d\"}\n",
              sg::Engine::get_clock(), cpu_seconds() - began, usage.ru_maxrss, major, minor);
  return 0;
}
