import type { JournalEvent } from '../../../../services/channels/rendering/journal-fold.ts';

type Data = Record<string, unknown>;

/** Builds the events of a session, with increasing seqs. */
export function createJournal(firstSeq = 1) {
  const events: JournalEvent[] = [];
  let seq = firstSeq;
  const actor = { type: 'agent', id: 'agt_1' };
  const usage = { input_tokens: 0, output_tokens: 0, steps: 0, tool_calls: 0, active_seconds: 0 };
  return {
    events,
    add(type: JournalEvent['type'], data: Data, turnId?: string, by = actor.type): void {
      const turn = turnId === undefined ? {} : { turn_id: turnId };
      events.push({ seq: seq++, type, actor: { ...actor, type: by }, data, ...turn } as JournalEvent);
    },
    begin(turnId: string): void {
      this.add('turn.queued', { turn_id: turnId }, turnId);
      this.add('turn.started', { turn_id: turnId, attempt: 1, fence: 1 }, turnId);
    },
    delta(turnId: string, messageId: string, delta: string): void {
      this.add('agent.message_delta', { message_id: messageId, index: 0, delta }, turnId);
    },
    message(turnId: string, messageId: string, text: string): void {
      const content = [{ type: 'text', text }];
      this.add(
        'agent.message',
        { message_id: messageId, content, model: 'm', finish_reason: 'stop' },
        turnId,
      );
    },
    discard(turnId: string, messageId: string): void {
      this.add('agent.message_discarded', { message_id: messageId, reason: 'lost' }, turnId);
    },
    toolUse(turnId: string, toolUseId: string, name: string, input: unknown, kind?: string): void {
      const data = {
        tool_use_id: toolUseId,
        name,
        input,
        evaluated_permission: 'ask',
        ...(kind && { kind }),
      };
      this.add('agent.tool_use', data, turnId);
    },
    toolResult(turnId: string, toolUseId: string, version = 0, isError = false): void {
      const data = { tool_use_id: toolUseId, output: '', is_error: isError, duration_ms: 1 };
      this.add('agent.tool_result', { ...data, workspace_version: version }, turnId);
    },
    file(
      path: string,
      sha256: string,
      version: number,
      type: 'file.created' | 'file.deleted' = 'file.created',
      by = actor.type,
    ): void {
      const content = type === 'file.created' && { sha256, size: 3 };
      this.add(type, { path, workspace_version: version, ...content }, undefined, by);
    },
    end(turnId: string, type: 'turn.completed' | 'turn.interrupted' = 'turn.completed'): void {
      this.add(type, { turn_id: turnId, attempt: 1, fence: 1, usage }, turnId);
    },
    block(turnId: string, kind: string): void {
      this.add('turn.blocked', { turn_id: turnId, attempt: 1, fence: 1, kind }, turnId);
    },
  };
}
