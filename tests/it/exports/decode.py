"""Decodes a Perfetto trace by the definitions in the package perfetto. Prints what is in it as JSON."""
import collections
import json
import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2


def unknown(message):
    """The number of fields that the definitions do not have."""
    count = len(UnknownFieldSet(message))
    for field, value in message.ListFields():
        if field.message_type is not None:
            parts = value if isinstance(value, collections.abc.Iterable) else [value]
            count += sum(unknown(part) for part in parts)
    return count


trace = perfetto_trace_pb2.Trace()
trace.ParseFromString(open(sys.argv[1], "rb").read())
names, categories, arguments, tracks, errors = {}, {}, {}, {}, []
calls, instants, counters = collections.Counter(), collections.Counter(), collections.Counter()
open_slices, newest = collections.defaultdict(list), collections.defaultdict(int)
for index, packet in enumerate(trace.packet):
    if packet.trusted_packet_sequence_id == 0:
        errors.append(f"packet {index} has no sequence")
    if (packet.sequence_flags & 1 == 1) != (index == 0):
        errors.append(f"packet {index} clears names")
    for kind, table in [("event_names", names), ("event_categories", categories), ("debug_annotation_names", arguments)]:
        for name in getattr(packet.interned_data, kind):
            if name.iid == 0 or name.iid in table:
                errors.append(f"name {name.iid} comes twice")
            table[name.iid] = name.name
    if packet.HasField("track_descriptor"):
        track = packet.track_descriptor
        tracks[track.uuid] = track.thread.thread_name or track.process.process_name or track.name
        if track.parent_uuid and track.parent_uuid not in tracks:
            errors.append(f"track {track.uuid} comes before its parent")
    if not packet.HasField("track_event"):
        continue
    event = packet.track_event
    uuid, kind = event.track_uuid, event.Type.Name(event.type)
    if uuid not in tracks:
        errors.append(f"event {index} has no track")
    if packet.timestamp < newest[uuid]:
        errors.append(f"event {index} goes back in time")
    newest[uuid] = packet.timestamp
    if any(iid not in categories for iid in event.category_iids):
        errors.append(f"event {index} has an unknown category")
    category = categories[event.category_iids[0]] if event.category_iids else ""
    if kind == "TYPE_SLICE_BEGIN":
        texts = {arguments[one.name_iid]: one.string_value for one in event.debug_annotations}
        open_slices[uuid].append([names[event.name_iid], texts])
        if category in ("call", "unwinding"):
            calls[names[event.name_iid]] += 1
    elif kind == "TYPE_SLICE_END":
        if open_slices[uuid]:
            open_slices[uuid].pop()
        else:
            errors.append(f"event {index} ends nothing")
    elif kind == "TYPE_INSTANT":
        instants[names[event.name_iid]] += 1
    elif kind == "TYPE_COUNTER":
        counters[tracks[uuid]] += 1
print(json.dumps({
    "packets": len(trace.packet), "unknown": unknown(trace), "errors": errors, "calls": calls,
    "instants": instants, "counters": counters, "tracks": sorted(tracks.values()),
    "open": [slice for slices in open_slices.values() for slice in slices],
}))
