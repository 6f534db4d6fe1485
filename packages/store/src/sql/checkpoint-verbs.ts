/** Signed checkpoints of the audit log, kept as they were signed. The store does not verify them. */
import type { CheckpointRow, CheckpointVerbs } from "../port.ts";
import { bytesOf, checkedLimit, jsonColumn, jsonOf } from "./columns.ts";
import type { CheckpointTable } from "./schema.ts";
import type { Scope } from "./scope.ts";

const checkpointOf = (row: CheckpointTable): CheckpointRow =>
  Object.freeze({
    node: row.node,
    seq: row.seq,
    hash: bytesOf(row.hash),
    timeMs: row.time_ms,
    keyId: row.key_id,
    signature: bytesOf(row.signature),
    otherHeads: jsonOf(row.other_heads),
    beginSeq: row.begin_seq,
    beginHash: bytesOf(row.begin_hash),
  });

export function checkpointVerbs(scope: Scope): CheckpointVerbs {
  const rows = () => scope.build.selectFrom("checkpoint").selectAll();
  return {
    nodes: async () => {
      const found = await scope.all(
        scope.build.selectFrom("checkpoint").select("node").distinct().orderBy("node"),
      );
      return found.map(({ node }) => node);
    },

    latestOf: async (node) => {
      const row = await scope.first(rows().where("node", "=", node).orderBy("seq", "desc").limit(1));
      return row === null ? null : checkpointOf(row);
    },

    list: async (node, { afterSeq, limit }) =>
      (
        await scope.all(
          rows()
            .where("node", "=", node)
            .where("seq", ">", afterSeq)
            .orderBy("seq")
            .limit(checkedLimit(limit)),
        )
      ).map(checkpointOf),

    insert: async (checkpoint) =>
      (await scope.changed(
        scope.build
          .insertInto("checkpoint")
          .values({
            node: checkpoint.node,
            seq: checkpoint.seq,
            hash: checkpoint.hash,
            time_ms: checkpoint.timeMs,
            key_id: checkpoint.keyId,
            signature: checkpoint.signature,
            other_heads: jsonColumn(checkpoint.otherHeads),
            begin_seq: checkpoint.beginSeq,
            begin_hash: checkpoint.beginHash,
          })
          .onConflict((conflict) => conflict.columns(["node", "seq"]).doNothing()),
      )) === 1,
  };
}
