import { ExternalLink } from 'lucide-react';
import type { ReactNode } from 'react';
import { Button, buttonClass } from '../../../../ui/button.tsx';
import { QuestionText } from '../question/question-form.tsx';

export interface LinkRequestProps {
  /** Text of the server. */
  message: string;
  url: string;
  /** A decision is being sent or was sent. */
  busy: boolean;
  onDone: () => void;
  /** Further buttons. */
  children: ReactNode;
}

/** A link that a server asks the user to open. Its whole domain and address are visible before. */
export function LinkRequest({ message, url, busy, onDone, children }: LinkRequestProps) {
  const domain = domainOf(url);
  return (
    <div className="flex flex-col gap-2">
      <QuestionText text={message} />
      <dl className="rounded-lg bg-sunken p-2 text-[13px] wrap-anywhere">
        <dt className="text-muted">Domain</dt>
        <dd className="font-mono font-medium">{domain ?? 'unknown'}</dd>
        <dt className="mt-1 text-muted">Address</dt>
        <dd className="font-mono">{url}</dd>
      </dl>
      <div className="flex flex-wrap gap-2">
        {domain !== undefined && (
          <a href={url} target="_blank" rel="noreferrer noopener" className={buttonClass('secondary', true)}>
            <ExternalLink aria-hidden />
            Open the link
            <span className="sr-only"> to {domain}</span>
          </a>
        )}
        <Button small look="primary" busy={busy} onClick={onDone}>
          I have done this
        </Button>
        {children}
      </div>
    </div>
  );
}

/** The domain as browsers resolve it, so that lookalike letters are visible. Undefined unless the link is http or https. */
function domainOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, host } = new URL(url);
  return protocol === 'https:' || protocol === 'http:' ? host : undefined;
}
