import type { Event } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { FakeFiles } from './fake-files.ts';

export interface PartFields {
  type?: 'image' | 'file';
  media_type?: string;
  name?: string;
}

/** Stores bytes and returns the part of a message in the form of the journal. */
export function storedPart(files: FakeFiles, bytes: Uint8Array, fields: PartFields = {}) {
  const sha256 = files.putPart(bytes);
  return { type: 'image', media_type: 'image/png', ...fields, sha256, size: bytes.length };
}

/** The events of a step of `turnId` that called a tool, and of its result. */
export function toolCallEvents(turnId: string, seq: number, output: unknown): Event[] {
  const call = { type: 'tool-call', toolCallId: 'call_1', toolName: 'camera', input: {} };
  const message = { content: [call], message_id: 'msg_1', model: 'm', finish_reason: 'tool-calls' };
  const result = { tool_use_id: 'call_1', output, is_error: false, duration_ms: 1 };
  return [event(turnId, seq, 'agent.message', message), event(turnId, seq + 1, 'agent.tool_result', result)];
}

function event(turnId: string, seq: number, type: string, data: object): Event {
  return { seq, type, json: JSON.stringify({ seq, type, turn_id: turnId, data }) };
}
