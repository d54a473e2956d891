"""``collsim import topology``: a machine described by another tool, as a cluster file."""

import click

from collsim.cli.options import output_options
from collsim.cli.program.command import command as _command
from collsim.cli.program.output import Output, note

__all__ = ["command"]


@_command(
    """Make a cluster file of a description of a machine by another tool.

    FILE is told by its content: NCCL topology XML (NCCL_TOPO_DUMP_FILE writes it, clouds
    ship it), NCCL graph XML (NCCL_GRAPH_DUMP_FILE), or the text of `nvidia-smi topo -m`.
    The cluster file, for -c, goes to stdout or -o. What was read, assumed and left out goes
    to stderr, and is in the file as comments.

    \b
    Examples:
      collsim import topology examples/nccl_topology_4_h100.xml -o mine.toml
      collsim import topology examples/nvidia_smi_topo_8_v100.txt --json
    """
)
@click.argument("file", metavar="FILE")
@output_options
def command(file: str, output: Output) -> None:
    """Import and print."""
    output.check()
    from collsim.interop.topology_file import import_topology
    from collsim.report.inventory import link_values

    found = import_topology(file)
    rows = [{**link_values(link), "links": count} for link, count in found.links]
    for title in ("read", "assumed", "left_out"):
        for sentence in getattr(found, title):
            note(f"{title.replace('_', ' ')}: {sentence}")
    output.emit(
        "import topology",
        rows,
        tuple(rows[0]) if rows else ("link",),
        lambda: found.text,
        cluster=found.name,
        ranks=found.ranks,
        format=found.format,
        shape=found.shape,
        read=list(found.read),
        assumed=list(found.assumed),
        left_out=list(found.left_out),
        toml=found.text,
    )
