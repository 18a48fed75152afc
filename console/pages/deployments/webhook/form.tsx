import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import type { Agent } from '../../../gen/index.ts';
import { useIdempotencyKeys } from '../../../parts/actions/idempotency-key.ts';
import { AgentPicker } from '../../../parts/agents/agent-picker.tsx';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { LeaveGuard } from '../../../parts/editor/leave-guard.tsx';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { ButtonLink } from '../../../parts/navigation/links.tsx';
import { Button } from '../../../ui/button.tsx';
import { Field, TextArea } from '../../../ui/field.tsx';
import { Card } from '../../../ui/page.tsx';
import { requests } from '../requests.ts';
import { MessagePreview } from './message-preview.tsx';

const MAX_PREFIX_BYTES = 65_536;

export interface WebhookDraft {
  agentId: string;
  promptPrefix: string | null;
  idempotencyKey: string;
}

export interface WebhookFormProps {
  agent: Agent | null;
  prefix: string;
  action: string;
  /** Creates the webhook. The response with the secret is not cached. */
  create: (newWebhook: WebhookDraft) => Promise<void>;
}

export function WebhookForm({ agent: firstAgent, prefix: firstPrefix, action, create }: WebhookFormProps) {
  const [agent, setAgent] = useState(firstAgent);
  const [prefix, setPrefix] = useState(firstPrefix);
  const [isTried, setTried] = useState(false);
  const [isSent, setSent] = useState(false);
  // A retry after a lost response does not create a second webhook.
  const { keyFor, renew } = useIdempotencyKeys();
  const creating = useMutation({ mutationFn: create, gcTime: 0 });
  const isChanged = agent?.agent_id !== firstAgent?.agent_id || prefix !== firstPrefix;
  const isLong = new TextEncoder().encode(prefix).length > MAX_PREFIX_BYTES;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setTried(true);
    if (!agent) event.currentTarget.querySelector<HTMLElement>('[role=combobox]')?.focus();
    if (!agent || isLong || creating.isPending) return;
    const agentId = agent.agent_id;
    creating.mutate(
      { agentId, promptPrefix: prefix || null, idempotencyKey: keyFor([agentId, prefix]) },
      {
        onSuccess: () => {
          renew();
          setSent(true);
          creating.reset();
        },
      },
    );
  }

  return (
    <Card className="p-4 sm:p-6">
      <form onSubmit={submit} className="grid gap-6 lg:grid-cols-2 lg:gap-10">
        <div className="flex min-w-0 flex-col gap-5">
          <Field
            label="Agent"
            hint="The agent that handles every request. The list contains only agents that you manage."
            error={isTried && !agent ? 'Select an agent.' : undefined}
          >
            <AgentPicker value={agent} onChange={setAgent} managed />
          </Field>
          <Field
            label="Prompt prefix"
            optional
            hint="Text before the body. The prefix and the agent cannot be changed later; replace the webhook instead."
            error={isLong ? 'The prefix must not exceed 64 KiB.' : undefined}
          >
            <TextArea
              rows={5}
              value={prefix}
              onChange={(event) => setPrefix(event.target.value)}
              placeholder="A build has failed. Summarize the cause in three lines:"
            />
          </Field>
        </div>
        <MessagePreview prefix={prefix} />
        <div className="flex flex-col gap-4 lg:col-span-full">
          <ErrorAlert error={creating.error} />
          <div className="flex flex-wrap gap-2">
            <Button type="submit" look="primary" busy={creating.isPending}>
              {action}
            </Button>
            <ButtonLink to="/deployments">Cancel</ButtonLink>
            <div className="ms-auto">
              <CopyCurl {...requests.createWebhook(agent?.agent_id, prefix)} />
            </div>
          </div>
        </div>
      </form>
      {/* Also guards a pending request, because its response contains the secret. */}
      <LeaveGuard isDirty={!isSent && (isChanged || creating.isPending)} />
    </Card>
  );
}
