import { useState } from 'react';
import type { Webhook } from '../../../gen/index.ts';
import { RevealOnce } from '../../../parts/actions/reveal-once.tsx';
import { Code } from '../../../ui/code.tsx';
import type { SenderLanguage } from '../search.ts';
import { SenderExamples } from './senders/senders.tsx';

export interface RevealSecretProps {
  webhook: Webhook;
  secret: string;
  onDone: () => void;
}

/** Shows the secret of a new webhook and example senders. */
export function RevealSecret({ webhook, secret, onDone }: RevealSecretProps) {
  const [language, setLanguage] = useState<SenderLanguage>('curl');
  return (
    <RevealOnce
      wide
      noun="secret"
      description="The secret is shown only once and cannot be displayed again. If you lose it, replace the webhook."
      label="Shared secret"
      value={secret}
      onDone={onDone}
    >
      <p className="-mt-3 text-[13px] text-muted">
        Store the secret where the sender runs, for example in a secret manager. Never put it into a web page,
        a log or a request.
      </p>
      <section className="flex flex-col gap-1.5">
        <h3 className="font-medium">Trigger URL</h3>
        <Code text={webhook.trigger_url} label="Trigger URL" wrap />
      </section>
      <section className="flex min-w-0 flex-col gap-1.5">
        <h3 className="font-medium">Example sender</h3>
        <SenderExamples url={webhook.trigger_url} language={language} onChange={setLanguage} />
      </section>
    </RevealOnce>
  );
}
