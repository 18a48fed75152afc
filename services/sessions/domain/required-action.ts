import type { StopReason } from '../../../lib/event-parts.ts';
import { ACTION_KINDS, type ActionKind } from '../../../lib/event-types.ts';
import type { OpenCall, TurnState } from './state.ts';
import { isPending } from './tool-calls.ts';

/** Returns the stop reason of a turn that waits for its own approval or its pending calls. Undefined when it waits for none. */
export function requiredAction({
  approval,
  calls,
}: Pick<TurnState, 'approval' | 'calls'>): StopReason | undefined {
  // A turn requests a model only when its calls have results.
  if (approval) return { type: 'requires_action', kind: 'authorization', blocking: [approval.eventId] };
  const pending = calls.filter(isPending);
  const kind = ACTION_KINDS.find((one) => pending.some((call) => actionKindOf(call) === one));
  if (kind === undefined) return undefined;
  // Calls that share an approval share its event.
  const blocking = [...new Set(pending.flatMap((call) => eventIdOf(call) ?? []))];
  return { type: 'requires_action', kind, blocking };
}

function actionKindOf({ approval, client }: OpenCall): ActionKind | undefined {
  if (client?.isAwaited) return client.kind;
  return approval && approval.kind !== 'tool' ? approval.kind : 'tool_approval';
}

/** The event that requests the action. Undefined for an approval that an older release has requested. */
function eventIdOf({ approval, client }: OpenCall): string | undefined {
  return client?.isAwaited ? client.eventId : approval?.eventId;
}
