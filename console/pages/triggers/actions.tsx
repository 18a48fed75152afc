import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import { forgetTrigger, keepTrigger, triggers } from '../../api/triggers.ts';
import type { Deployment } from '../../gen/index.ts';
import { ConfirmAct } from '../../parts/acts/confirm-act.tsx';
import { messageOf } from '../../parts/faults/failure.tsx';
import { toast } from '../../ui/toast.tsx';
import { requests } from './requests.ts';
import { agentNameOf } from './status.tsx';

interface Asked {
  what: 'disable' | 'delete';
  trigger: Deployment;
  /** Said besides what it means. */
  warning?: ReactNode;
}

export interface TriggerActions {
  enable: (trigger: Deployment) => void;
  isEnabling: boolean;
  /** Once it is confirmed. */
  ask: (asked: Asked) => void;
  /** Stands somewhere on the page. */
  dialog: ReactNode;
}

const WORDS = {
  disable: {
    title: 'Disable the trigger?',
    action: 'Disable',
    done: 'Disabled. Its requests are answered with 404.',
    meaning:
      'From then on its requests are answered with 404 and start nothing. Its URL and secret are kept: they work again when it is enabled again.',
  },
  delete: {
    title: 'Delete the trigger?',
    action: 'Delete',
    done: 'Deleted.',
    meaning:
      'Its URL stops for good, and its log of requests goes with it. Sessions that it has started stay.',
  },
};

/** Enables, disables and deletes triggers, on whichever page. */
export function useTriggerActions(onDeleted?: (trigger: Deployment) => void): TriggerActions {
  const queries = useQueryClient();
  const [asked, setAsked] = useState<Asked>();
  // What was asked last is still readable while the dialog goes.
  const [isOpen, setOpen] = useState(false);
  const enabling = useMutation({
    mutationFn: triggers.enable,
    onSuccess: (trigger) => {
      toast.done('Enabled. Its URL and secret work again.');
      return keepTrigger(queries, trigger);
    },
    onError: (error) => toast.failed('It could not be enabled.', messageOf(error)),
  });
  const ask = useCallback((next: Asked) => {
    setAsked(next);
    setOpen(true);
  }, []);
  async function run(): Promise<void> {
    if (asked?.what === 'disable') await keepTrigger(queries, await triggers.disable(asked.trigger));
    else if (asked) await triggers.remove(asked.trigger);
  }
  async function onDone(): Promise<void> {
    if (asked?.what !== 'delete') return;
    onDeleted?.(asked.trigger);
    await forgetTrigger(queries, asked.trigger);
  }
  const words = WORDS[asked?.what ?? 'disable'];
  return {
    enable: enabling.mutate,
    isEnabling: enabling.isPending,
    ask,
    dialog: asked && (
      <ConfirmAct
        open={isOpen}
        onClose={() => setOpen(false)}
        title={words.title}
        action={words.action}
        run={run}
        curl={requests[asked.what](asked.trigger)}
        done={words.done}
        onDone={onDone}
      >
        <p>{words.meaning}</p>
        {asked.warning && <p className="text-warn">{asked.warning}</p>}
        <div className="min-w-0 max-w-full">
          <div className="truncate text-left text-ink" dir="auto" title={agentNameOf(asked.trigger)}>
            {agentNameOf(asked.trigger)}
          </div>
          <code className="font-mono text-xs">{asked.trigger.deployment_id}</code>
        </div>
      </ConfirmAct>
    ),
  };
}
