import { useState } from 'react';
import type { Deployment } from '../../gen/index.ts';
import { RevealOnce } from '../../parts/acts/reveal-once.tsx';
import { Code } from '../../ui/code.tsx';
import type { SenderLanguage } from './search.ts';
import { Senders } from './senders/senders.tsx';

export interface RevealProps {
  trigger: Deployment;
  secret: string;
  onDone: () => void;
}

/** The secret of a trigger, and what a sender does with it. */
export function Reveal({ trigger, secret, onDone }: RevealProps) {
  const [language, setLanguage] = useState<SenderLanguage>('curl');
  return (
    <RevealOnce
      wide
      noun="secret"
      description="It is shown this one time. Nobody can read it here again: a secret that is lost means a new trigger."
      label="Shared secret"
      value={secret}
      onDone={onDone}
    >
      <p className="-mt-3 text-[13px] text-muted">
        Keep it where the sender runs, such as in its secret manager; never in a web page, a log or a request.
      </p>
      <section className="flex flex-col gap-1.5">
        <h3 className="font-medium">Trigger URL</h3>
        <Code text={trigger.trigger_url} label="Trigger URL" wrap />
      </section>
      <section className="flex min-w-0 flex-col gap-1.5">
        <h3 className="font-medium">A sender that signs</h3>
        <Senders url={trigger.trigger_url} language={language} onChange={setLanguage} />
      </section>
    </RevealOnce>
  );
}
