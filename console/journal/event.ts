import type { Event } from '../gen/types.gen.ts';

export type JournalEvent = Event;
export type JournalEventType = Event['type'];

/** An event with the data type of its event type. */
export type EventOf<Type extends JournalEventType> = Extract<Event, { type: Type }>;

/** An event with partial output. A later durable event contains the complete output. */
export type TransientEvent = EventOf<'agent.message_delta' | 'agent.tool_progress'>;
export type DurableEvent = Exclude<JournalEvent, TransientEvent>;

const DURABLE: Record<DurableEvent['type'], true> = {
  'session.created': true,
  'session.updated': true,
  'session.forked': true,
  'session.deleted': true,
  'turn.queued': true,
  'turn.started': true,
  'turn.blocked': true,
  'turn.completed': true,
  'turn.failed': true,
  'turn.interrupted': true,
  'turn.cancelled': true,
  'session.status_pending': true,
  'session.status_running': true,
  'session.status_idle': true,
  'session.status_rescheduled': true,
  'session.status_terminated': true,
  'session.error': true,
  'user.message': true,
  'user.message_delivered': true,
  'user.interrupt': true,
  'user.tool_approval': true,
  'agent.message': true,
  'agent.thinking': true,
  'agent.message_discarded': true,
  'agent.tools_offered': true,
  'agent.tool_use': true,
  'agent.tool_dispatched': true,
  'agent.tool_result': true,
  'agent.context_compacted': true,
  'approval.requested': true,
  'approval.decided': true,
  'credential.used': true,
  'files.uploaded': true,
  'file.created': true,
  'file.modified': true,
  'file.deleted': true,
  'environment.status_changed': true,
  'model.request_started': true,
  'model.request_finished': true,
};

export const DURABLE_TYPES = Object.keys(DURABLE);

export type FileEvent = EventOf<'files.uploaded' | 'file.created' | 'file.modified' | 'file.deleted'>;

export const isFileType = (type: string) => type.startsWith('file.') || type.startsWith('files.');
export const FILE_TYPES = DURABLE_TYPES.filter(isFileType);
/** Durable types without file events, of which a session may have thousands without a message between them. */
export const CONVERSATION_TYPES = DURABLE_TYPES.filter((type) => !isFileType(type));

export function isTransient(event: JournalEvent): event is TransientEvent {
  return event.type === 'agent.message_delta' || event.type === 'agent.tool_progress';
}
