import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useCallback, useState } from 'react';
import { cacheDeployment, deployments, dropCachedDeployment } from '../../api/deployments.ts';
import type { Deployment } from '../../gen/index.ts';
import { ConfirmAction } from '../../parts/actions/confirm-action.tsx';
import { messageOf } from '../../parts/errors/error-state.tsx';
import { toast } from '../../ui/toast.tsx';
import { requests } from './requests.ts';
import { deploymentTitle } from './status.tsx';

interface RequestedDeploymentAction {
  kind: 'disable' | 'delete';
  deployment: Deployment;
  /** Additional warning in the confirmation. */
  warning?: ReactNode;
}

export interface DeploymentActions {
  enable: (deployment: Deployment) => void;
  isEnabling: boolean;
  /** Opens a confirmation for an action. */
  confirm: (requested: RequestedDeploymentAction) => void;
  /** The confirmation dialog, to be rendered by the page. */
  dialog: ReactNode;
}

const TEXTS = {
  webhook: {
    enabled: 'Webhook enabled. Its URL and secret work again.',
    disable: {
      title: 'Disable webhook?',
      action: 'Disable',
      done: 'Webhook disabled. Requests return 404.',
      meaning:
        'Requests return 404 and start no sessions. The URL and the secret are kept and work again when the webhook is enabled.',
    },
    delete: {
      title: 'Delete webhook?',
      action: 'Delete',
      done: 'Webhook deleted.',
      meaning:
        'The URL stops working permanently, and the request log is deleted. Sessions that the webhook started are kept.',
    },
  },
  schedule: {
    enabled: 'Schedule enabled. It goes on with its next time.',
    disable: {
      title: 'Disable schedule?',
      action: 'Disable',
      done: 'Schedule disabled.',
      meaning:
        'Times pass without a run, and queued runs are cancelled. Runs in progress go on. Enabling the schedule does not make up for them.',
    },
    delete: {
      title: 'Delete schedule?',
      action: 'Delete',
      done: 'Schedule deleted.',
      meaning: 'The schedule and the list of its runs are deleted. Sessions that it started are kept.',
    },
  },
  channel: {
    enabled: 'Channel enabled. It connects with its product.',
    disable: {
      title: 'Disable channel?',
      action: 'Disable',
      done: 'Channel disabled.',
      meaning:
        'The bot no longer gets messages, and posts that are not sent wait. Sessions in progress go on. Enabling the channel connects it again.',
    },
    delete: {
      title: 'Delete channel?',
      action: 'Delete',
      done: 'Channel deleted.',
      meaning:
        'The channel, its conversations and the lists of deliveries and posts are deleted. Sessions that it started are kept.',
    },
  },
};

/** Enables, disables and deletes deployments, on every page. */
export function useDeploymentActions(onDeleted?: (deployment: Deployment) => void): DeploymentActions {
  const queries = useQueryClient();
  const [requested, setRequested] = useState<RequestedDeploymentAction>();
  // The content stays while the dialog closes.
  const [isOpen, setOpen] = useState(false);
  const enabling = useMutation({
    mutationFn: deployments.enable,
    onSuccess: (deployment) => {
      toast.done(TEXTS[deployment.type].enabled);
      return cacheDeployment(queries, deployment);
    },
    onError: (error) => toast.failed('The deployment could not be enabled.', messageOf(error)),
  });
  const confirm = useCallback((next: RequestedDeploymentAction) => {
    setRequested(next);
    setOpen(true);
  }, []);
  async function run(): Promise<void> {
    if (requested?.kind === 'disable')
      await cacheDeployment(queries, await deployments.disable(requested.deployment));
    else if (requested) await deployments.remove(requested.deployment);
  }
  async function onDone(): Promise<void> {
    if (requested?.kind !== 'delete') return;
    onDeleted?.(requested.deployment);
    await dropCachedDeployment(queries, requested.deployment);
  }
  const words = TEXTS[requested?.deployment.type ?? 'webhook'][requested?.kind ?? 'disable'];
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
        curl={requests[requested.kind](requested.deployment)}
        done={words.done}
        onDone={onDone}
      >
        <p>{words.meaning}</p>
        {requested.warning && <p className="text-warn">{requested.warning}</p>}
        <div className="min-w-0 max-w-full">
          <div
            className="truncate text-left text-ink"
            dir="auto"
            title={deploymentTitle(requested.deployment)}
          >
            {deploymentTitle(requested.deployment)}
          </div>
          <code className="font-mono text-xs">{requested.deployment.deployment_id}</code>
        </div>
      </ConfirmAction>
    ),
  };
}
