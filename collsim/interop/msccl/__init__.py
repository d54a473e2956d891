"""MSCCL's XML: schedules of thread blocks and steps, in and out.

Source: how the runtime reads and runs such files (github.com/microsoft/msccl,
src/graph/topo.cc, src/graph/xml.cc, src/include/msccl.h,
src/collectives/device/msccl_interpreter.h), and what github.com/microsoft/msccl-tools writes.
"""
