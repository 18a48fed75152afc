import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { ApiError } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import type { CurlOptions } from '../curl/curl.ts';
import { Problem, RequestId } from '../faults/failure.tsx';

export interface SaveBarProps {
  /** The verb on the button. */
  action: string;
  /** What is said of the state of the form. */
  says: string;
  busy: boolean;
  error: unknown;
  curl: CurlOptions;
  /** What has to be decided first: until then nothing can be sent. */
  notice?: ReactNode;
  /** Other things to do. */
  children?: ReactNode;
}

/** Stands below a form, and stays in sight. */
export function SaveBar({ action, says, busy, error, curl, notice, children }: SaveBarProps) {
  const send = useRef<HTMLButtonElement>(null);
  const isOpen = !notice;
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    // What had the focus may have gone with the notice.
    if (isOpen && !wasOpen.current && document.activeElement === document.body) send.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  const bar = useFocusGivenBack();
  return (
    <div
      ref={bar}
      className="sticky bottom-0 z-10 -mx-4 border-t border-line bg-canvas px-4 py-3 sm:-mx-8 sm:px-8"
    >
      {notice || <Refusal error={error} />}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p role="status" className="me-auto text-[13px] text-muted">
          {says}
        </p>
        <CopyCurl {...curl} />
        {children}
        {isOpen && (
          <Button ref={send} type="submit" look="primary" busy={busy}>
            {action}
          </Button>
        )}
      </div>
    </div>
  );
}

/** When the bar goes, the focus returns to where one was before. */
function useFocusGivenBack() {
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const place = bar.current;
    if (!place) return;
    let before: EventTarget | null = null;
    const come = ({ relatedTarget: from }: FocusEvent) => {
      if (from instanceof HTMLElement && !place.contains(from)) before = from;
    };
    place.addEventListener('focusin', come);
    return () => {
      place.removeEventListener('focusin', come);
      if (!place.contains(document.activeElement)) return;
      requestAnimationFrame(() => {
        if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
      });
    };
  }, []);
  return bar;
}

/** What is wrong with a member stands at its field; here it is counted. */
function Refusal({ error }: { error: unknown }) {
  if (!error) return null;
  const details = error instanceof ApiError ? error.details : [];
  const isAtFields = details.length > 0 && details.every(({ pointer }) => pointer !== '');
  if (!isAtFields) {
    return (
      <div className="mb-3 max-h-48 overflow-y-auto">
        <Problem error={error} />
      </div>
    );
  }
  return (
    <p role="alert" className="mb-2 text-bad">
      {details.length === 1 ? 'A field needs another value.' : `${details.length} fields need other values.`}
      <RequestId error={error} />
    </p>
  );
}
