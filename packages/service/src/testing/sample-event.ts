/** Events and logs for tests. */
import type { EventEnvelope } from "../audit/event-chain.ts";
import { type ChainHead, type EventRow, genesisOf, headOf, nextRow } from "../audit/event-chain.ts";

const FACTS = {
  permission_state: { mode: "default", rules: [], policy_sources: ["manifest"], interactive: true },
  permission_decision: {
    id: "decision-1",
    decision: "denied",
    decision_reason: "the target was denied by a person",
    rule_refs: ["denial-1"],
    updated_input_ref: null,
    approval_action_id: null,
    expires_at: null,
    scope: null,
    destructive: false,
    impact_scope: "fetches data",
    rollback_advice: "nothing to undo",
    decision_source: "denial",
  },
  sandbox_profile: {
    mode: "none",
    platform: "linux",
    cwd: "/srv/app",
    read_roots: ["/srv/app"],
    write_roots: [],
    network: { access: "open", forwarded_ports: [] },
    environment_ref: null,
    process_limits: {
      processes_max: null,
      open_files_max: null,
      memory_bytes_max: null,
      cpu_seconds_max: null,
    },
    violation_refs: [],
    enforced_by: [],
    not_enforced: [],
  },
};

/** A whole `permission.evaluated` event in wire form. */
export function sampleEvent(index: number, target = `https://api.example.com/v1/${index}`): EventEnvelope {
  const seconds = String(index % 60).padStart(2, "0");
  const minutes = String(Math.floor(index / 60) % 60).padStart(2, "0");
  return {
    specversion: "1.0",
    id: `event-${index}`,
    source: "/nodes/a",
    type: "permission.evaluated",
    time: `2026-01-31T09:${minutes}:${seconds}Z`,
    datacontenttype: "application/json",
    data: {
      subject: { type: "tool", name: "demo.read_file" },
      subject_chain: [
        {
          subject: { type: "tool", name: "demo.read_file" },
          phase: "runtime",
          entry: "host",
          contracts: ["contract-1"],
        },
      ],
      resource: { type: "network", operation: "receive", target },
      requested: { type: "network", operation: "receive", target },
      origin: { user_id: 21, organization_id: null, session_key: "sess-21", task_id: null },
      code: "resource_disabled",
      attested_by: "service",
      count: 1,
      ...FACTS,
    },
  } as unknown as EventEnvelope;
}

/** Rows of one node; `linkAt` says which heads of other nodes a row vouches for. */
export function sampleRows(
  node: string,
  count: number,
  linkAt: (seq: number) => readonly ChainHead[] = () => [],
): EventRow[] {
  const rows: EventRow[] = [];
  let head = genesisOf(node);
  for (let seq = 1; seq <= count; seq++) {
    const row = nextRow(head, sampleEvent(seq), linkAt(seq));
    rows.push(row);
    head = headOf(row);
  }
  return rows;
}
