import type {
  DataOfAgentMessage,
  DataOfAgentMessageDelta,
  DataOfAgentMessageDiscarded,
  DataOfAgentThinking,
  DataOfAgentToolDispatched,
  DataOfAgentToolProgress,
  DataOfAgentToolResult,
  DataOfAgentToolUse,
  DataOfApprovalDecided,
  DataOfApprovalRequested,
  DataOfEnvironmentStatusChanged,
  DataOfFileCreated,
  DataOfFileDeleted,
  DataOfFileModified,
  DataOfFilesUploaded,
  DataOfModelRequestFinished,
  DataOfModelRequestStarted,
  DataOfSessionCreated,
  DataOfSessionDeleted,
  DataOfSessionError,
  DataOfSessionForked,
  DataOfSessionStatusIdle,
  DataOfSessionStatusPending,
  DataOfSessionStatusRescheduled,
  DataOfSessionStatusRunning,
  DataOfSessionStatusTerminated,
  DataOfSessionUpdated,
  DataOfTurnBlocked,
  DataOfTurnCancelled,
  DataOfTurnCompleted,
  DataOfTurnFailed,
  DataOfTurnInterrupted,
  DataOfTurnQueued,
  DataOfTurnStarted,
  DataOfUserInterrupt,
  DataOfUserMessage,
  DataOfUserToolApproval,
  Event,
} from '../gen/types.gen.ts';

interface DataByType {
  'session.created': DataOfSessionCreated;
  'session.updated': DataOfSessionUpdated;
  'session.forked': DataOfSessionForked;
  'session.deleted': DataOfSessionDeleted;
  'turn.queued': DataOfTurnQueued;
  'turn.started': DataOfTurnStarted;
  'turn.blocked': DataOfTurnBlocked;
  'turn.completed': DataOfTurnCompleted;
  'turn.failed': DataOfTurnFailed;
  'turn.interrupted': DataOfTurnInterrupted;
  'turn.cancelled': DataOfTurnCancelled;
  'session.status_pending': DataOfSessionStatusPending;
  'session.status_running': DataOfSessionStatusRunning;
  'session.status_idle': DataOfSessionStatusIdle;
  'session.status_rescheduled': DataOfSessionStatusRescheduled;
  'session.status_terminated': DataOfSessionStatusTerminated;
  'session.error': DataOfSessionError;
  'user.message': DataOfUserMessage;
  'user.interrupt': DataOfUserInterrupt;
  'user.tool_approval': DataOfUserToolApproval;
  'agent.message': DataOfAgentMessage;
  'agent.thinking': DataOfAgentThinking;
  'agent.message_delta': DataOfAgentMessageDelta;
  'agent.message_discarded': DataOfAgentMessageDiscarded;
  'agent.tool_use': DataOfAgentToolUse;
  'agent.tool_dispatched': DataOfAgentToolDispatched;
  'agent.tool_progress': DataOfAgentToolProgress;
  'agent.tool_result': DataOfAgentToolResult;
  'approval.requested': DataOfApprovalRequested;
  'approval.decided': DataOfApprovalDecided;
  'files.uploaded': DataOfFilesUploaded;
  'file.created': DataOfFileCreated;
  'file.modified': DataOfFileModified;
  'file.deleted': DataOfFileDeleted;
  'environment.status_changed': DataOfEnvironmentStatusChanged;
  'model.request_started': DataOfModelRequestStarted;
  'model.request_finished': DataOfModelRequestFinished;
}

export type JournalEventType = keyof DataByType;

/** An event with the data type of its event type. */
export type EventOf<Type extends JournalEventType> = {
  [Key in Type]: Omit<Event, 'type' | 'data'> & { type: Key; data: DataByType[Key] };
}[Type];

export type JournalEvent = EventOf<JournalEventType>;

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
  'user.interrupt': true,
  'user.tool_approval': true,
  'agent.message': true,
  'agent.thinking': true,
  'agent.message_discarded': true,
  'agent.tool_use': true,
  'agent.tool_dispatched': true,
  'agent.tool_result': true,
  'approval.requested': true,
  'approval.decided': true,
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

/** Narrows an event from the API. The service guarantees that the data matches the type. */
export const asJournalEvent = (event: Event): JournalEvent => event as JournalEvent;
