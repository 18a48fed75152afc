import { useRef, useState } from 'react';
import type { Deployment } from '../../gen/index.ts';
import { Button } from '../../ui/button.tsx';
import { Checkbox } from '../../ui/checkbox.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import type { SenderLanguage } from './search.ts';
import { Senders } from './senders/senders.tsx';

export interface RevealProps {
  trigger: Deployment;
  secret: string;
  onDone: () => void;
}

/** Shows the secret, this one time. It goes away only when somebody says that they have stored it. */
export function Reveal({ trigger, secret, onDone }: RevealProps) {
  const [isStored, setStored] = useState(false);
  const [language, setLanguage] = useState<SenderLanguage>('curl');
  const first = useRef<HTMLHeadingElement>(null);
  return (
    <Dialog
      open
      wide
      title="Store the secret now"
      description="It is shown this one time. Nobody can read it here again: a secret that is lost means a new trigger."
      initialFocus={first}
    >
      <div className="flex min-w-0 flex-col gap-5">
        <section className="flex flex-col gap-1.5">
          <h3 ref={first} tabIndex={-1} className="font-medium outline-none">
            Shared secret
          </h3>
          <Code text={secret} label="Shared secret" wrap />
          <p className="text-[13px] text-muted">
            Keep it where the sender runs, such as in its secret manager; never in a web page, a log or a
            request.
          </p>
        </section>
        <section className="flex flex-col gap-1.5">
          <h3 className="font-medium">Trigger URL</h3>
          <Code text={trigger.trigger_url} label="Trigger URL" wrap />
        </section>
        <section className="flex min-w-0 flex-col gap-1.5">
          <h3 className="font-medium">A sender that signs</h3>
          <Senders url={trigger.trigger_url} language={language} onChange={setLanguage} />
        </section>
        <Checkbox checked={isStored} onChange={setStored}>
          I have stored the secret
        </Checkbox>
      </div>
      <DialogActions>
        <Button look="primary" disabled={!isStored} onClick={onDone}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  );
}
