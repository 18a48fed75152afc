import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { deleteTrigger, forgetTrigger, keepTrigger, setTriggerStatus } from '../../api/triggers.ts';
import type { Deployment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { messageOf, Problem } from '../../parts/faults/failure.tsx';
import { Confirm } from '../../ui/confirm.tsx';
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
    meaning:
      'From then on its requests are answered with 404 and start nothing. Its URL and secret are kept: they work again when it is enabled again.',
  },
  delete: {
    title: 'Delete the trigger?',
    action: 'Delete',
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
    mutationFn: (trigger: Deployment) => setTriggerStatus(trigger, 'enabled'),
    onSuccess: (trigger) => {
      toast.done('Enabled. Its URL and secret work again.');
      return keepTrigger(queries, trigger);
    },
    onError: (error) => toast.failed('It could not be enabled.', messageOf(error)),
  });
  const doing = useMutation({
    mutationFn: async ({ what, trigger }: Asked) => {
      if (what === 'disable') await keepTrigger(queries, await setTriggerStatus(trigger, 'disabled'));
      else await deleteTrigger(trigger);
    },
    onSuccess: async (_, { what, trigger }) => {
      setOpen(false);
      toast.done(what === 'disable' ? 'Disabled. Its requests are answered with 404.' : 'Deleted.');
      if (what === 'disable') return;
      onDeleted?.(trigger);
      await forgetTrigger(queries, trigger);
    },
  });
  const words = WORDS[asked?.what ?? 'disable'];
  return {
    enable: enabling.mutate,
    isEnabling: enabling.isPending,
    ask: (next) => {
      doing.reset();
      setAsked(next);
      setOpen(true);
    },
    dialog: (
      <Confirm
        open={isOpen}
        onClose={() => setOpen(false)}
        title={words.title}
        action={words.action}
        busy={doing.isPending}
        onConfirm={() => asked && doing.mutate(asked)}
        failure={<Problem error={doing.error} />}
      >
        {asked && (
          <div className="flex flex-col items-start gap-3">
            <p>{words.meaning}</p>
            {asked.warning && <p className="text-warn">{asked.warning}</p>}
            <div className="min-w-0 max-w-full">
              <div className="truncate text-left text-ink" dir="auto" title={agentNameOf(asked.trigger)}>
                {agentNameOf(asked.trigger)}
              </div>
              <code className="font-mono text-xs">{asked.trigger.deployment_id}</code>
            </div>
            <CopyCurl {...requests[asked.what](asked.trigger)} />
          </div>
        )}
      </Confirm>
    ),
  };
}
