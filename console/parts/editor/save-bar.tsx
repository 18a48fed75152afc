import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react';
import { ApiError } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import type { CurlOptions } from '../curl/curl.ts';
import { ErrorAlert, RequestId } from '../errors/error-state.tsx';

export interface SaveBarProps {
  /** The verb on the button. */
  action: string;
  /** State of the form, announced to screen readers. */
  status: string;
  busy: boolean;
  error: unknown;
  curl: CurlOptions;
  /** A conflict that the user must resolve first; it hides the submit button. */
  notice?: ReactNode;
  /** Additional buttons. */
  children?: ReactNode;
}

/** Sticky bar below a form with the submit button. */
export function SaveBar({ action, status: says, busy, error, curl, notice, children }: SaveBarProps) {
  const send = useRef<HTMLButtonElement>(null);
  const isOpen = !notice;
  const wasOpen = useRef(isOpen);
  useEffect(() => {
    // The notice may have contained the focused element.
    if (isOpen && !wasOpen.current && document.activeElement === document.body) send.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  const bar = useFocusReturn();
  return (
    <div
      ref={bar}
      className="sticky bottom-0 z-10 -mx-4 border-t border-line bg-canvas px-4 py-3 sm:-mx-8 sm:px-8"
    >
      {notice || <SaveError error={error} />}
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

/** Returns the focus to the previously focused element when the bar unmounts. */
function useFocusReturn() {
  const bar = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const element = bar.current;
    if (!element) return;
    let before: EventTarget | null = null;
    const onFocusIn = ({ relatedTarget: from }: FocusEvent) => {
      if (from instanceof HTMLElement && !element.contains(from)) before = from;
    };
    element.addEventListener('focusin', onFocusIn);
    return () => {
      element.removeEventListener('focusin', onFocusIn);
      if (!element.contains(document.activeElement)) return;
      requestAnimationFrame(() => {
        if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
      });
    };
  }, []);
  return bar;
}

/** Error of the last save. Errors of fields are shown at the fields and only counted here. */
function SaveError({ error }: { error: unknown }) {
  if (!error) return null;
  const details = error instanceof ApiError ? error.details : [];
  const isAtFields = details.length > 0 && details.every(({ pointer }) => pointer !== '');
  if (!isAtFields) {
    return (
      <div className="mb-3 max-h-48 overflow-y-auto">
        <ErrorAlert error={error} />
      </div>
    );
  }
  return (
    <p role="alert" className="mb-2 text-bad">
      {details.length === 1
        ? '1 field has an invalid value.'
        : `${details.length} fields have invalid values.`}
      <RequestId error={error} />
    </p>
  );
}
