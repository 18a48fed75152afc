import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import { cacheTrigger, dropCachedTrigger, triggers } from '../../api/triggers.ts';
import type { Deployment } from '../../gen/index.ts';
import { ConfirmAction } from '../../parts/actions/confirm-action.tsx';
import { messageOf } from '../../parts/errors/error-state.tsx';
import { toast } from '../../ui/toast.tsx';
import { requests } from './requests.ts';
import { agentNameOf } from './status.tsx';

interface RequestedTriggerAction {
  kind: 'disable' | 'delete';
  trigger: Deployment;
  /** Additional warning in the confirmation. */
  warning?: ReactNode;
}

export interface TriggerActions {
  enable: (trigger: Deployment) => void;
  isEnabling: boolean;
  /** Opens a confirmation for an action. */
  confirm: (requested: RequestedTriggerAction) => void;
  /** The confirmation dialog, to be rendered by the page. */
  dialog: ReactNode;
}

const TEXTS = {
  disable: {
    title: 'Disable trigger?',
    action: 'Disable',
    done: 'Trigger disabled. Requests return 404.',
    meaning:
      'Requests return 404 and start no sessions. The URL and the secret are kept and work again when the trigger is enabled.',
  },
  delete: {
    title: 'Delete trigger?',
    action: 'Delete',
    done: 'Trigger deleted.',
    meaning:
      'The URL stops working permanently, and the request log is deleted. Sessions that the trigger started are kept.',
  },
};

/** Enables, disables and deletes triggers, on every page. */
export function useTriggerActions(onDeleted?: (trigger: Deployment) => void): TriggerActions {
  const queries = useQueryClient();
  const [requested, setRequested] = useState<RequestedTriggerAction>();
  // The content stays while the dialog closes.
  const [isOpen, setOpen] = useState(false);
  const enabling = useMutation({
    mutationFn: triggers.enable,
    onSuccess: (trigger) => {
      toast.done('Trigger enabled. Its URL and secret work again.');
      return cacheTrigger(queries, trigger);
    },
    onError: (error) => toast.failed('The trigger could not be enabled.', messageOf(error)),
  });
  const confirm = useCallback((next: RequestedTriggerAction) => {
    setRequested(next);
    setOpen(true);
  }, []);
  async function run(): Promise<void> {
    if (requested?.kind === 'disable') await cacheTrigger(queries, await triggers.disable(requested.trigger));
    else if (requested) await triggers.remove(requested.trigger);
  }
  async function onDone(): Promise<void> {
    if (requested?.kind !== 'delete') return;
    onDeleted?.(requested.trigger);
    await dropCachedTrigger(queries, requested.trigger);
  }
  const words = TEXTS[requested?.kind ?? 'disable'];
  return {
    enable: enabling.mutate,
    isEnabling: enabling.isPending,
    confirm,
    dialog: requested && (
      <ConfirmAction
        open={isOpen}
        onClose={() => setOpen(false)}
        title={words.title}
        action={words.action}
        run={run}
        curl={requests[requested.kind](requested.trigger)}
        done={words.done}
        onDone={onDone}
      >
        <p>{words.meaning}</p>
        {requested.warning && <p className="text-warn">{requested.warning}</p>}
        <div className="min-w-0 max-w-full">
          <div className="truncate text-left text-ink" dir="auto" title={agentNameOf(requested.trigger)}>
            {agentNameOf(requested.trigger)}
          </div>
          <code className="font-mono text-xs">{requested.trigger.deployment_id}</code>
        </div>
      </ConfirmAction>
    ),
  };
}
