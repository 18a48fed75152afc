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
  DataOfCredentialUsed,
  DataOfEnvironmentStatusChanged,
  DataOfFileCreated,
  DataOfFileDeleted,
  DataOfFileModified,
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
  'file.created': DataOfFileCreated;
  'file.modified': DataOfFileModified;
  'file.deleted': DataOfFileDeleted;
  'environment.status_changed': DataOfEnvironmentStatusChanged;
  'credential.used': DataOfCredentialUsed;
  'model.request_started': DataOfModelRequestStarted;
  'model.request_finished': DataOfModelRequestFinished;
}

export type EventType = keyof DataByType;

/** An event whose data is known by its type. */
export type EventOf<Type extends EventType> = {
  [One in Type]: Omit<Event, 'type' | 'data'> & { type: One; data: DataByType[One] };
}[Type];

export type JournalEvent = EventOf<EventType>;

/** What is shown while something is said or done, and stands whole in an event that comes later. */
export type PassingEvent = EventOf<'agent.message_delta' | 'agent.tool_progress'>;
export type LastingEvent = Exclude<JournalEvent, PassingEvent>;

const LASTING: Record<LastingEvent['type'], true> = {
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
  'file.created': true,
  'file.modified': true,
  'file.deleted': true,
  'environment.status_changed': true,
  'credential.used': true,
  'model.request_started': true,
  'model.request_finished': true,
};

export const LASTING_TYPES = Object.keys(LASTING);

export function isPassing(event: JournalEvent): event is PassingEvent {
  return event.type === 'agent.message_delta' || event.type === 'agent.tool_progress';
}

/** The service has written it: what it says of its data is so. */
export const asJournalEvent = (event: Event): JournalEvent => event as JournalEvent;
