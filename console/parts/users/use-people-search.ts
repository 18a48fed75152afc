import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type KeyboardEvent, useDeferredValue, useRef, useState } from 'react';
import { users } from '../../api/users.ts';
import type { UserName } from '../../gen/index.ts';
import { messageOf } from '../errors/error-state.tsx';
import { exactMatches, isSearchable, MIN_SEARCH_CHARS, moveHighlight, resolveUser } from './people-search.ts';

const NO_USERS: readonly UserName[] = [];

interface PeopleSearchOptions {
  text: string;
  onText: (text: string) => void;
  onChoose: (user: UserName) => void;
}

/** State of a combobox that finds users by name or e-mail address. */
export function usePeopleSearch({ text, onText, onChoose }: PeopleSearchOptions) {
  const queries = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const [highlight, setHighlight] = useState<number>();
  const [problem, setProblem] = useState<string>();
  // A search ends later than the render in which it began. Its result applies to the newest values.
  const newest = useRef({ text, onChoose });
  newest.current = { text, onChoose };
  const searched = useDeferredValue(text.trim());
  const { data, isFetching, error } = useQuery({
    ...users.search(searched),
    enabled: isOpen && isSearchable(searched),
  });
  const options = data ?? NO_USERS;

  function choose(user: UserName): void {
    newest.current.onChoose(user);
    onText('');
    close();
    setProblem(undefined);
  }

  function close(): void {
    setOpen(false);
    setHighlight(undefined);
  }

  /** Chooses the user that the text means, or shows why there is none. */
  async function submit(accepts: (found: readonly UserName[]) => boolean = () => true): Promise<void> {
    const wanted = text.trim();
    if (wanted === '') return setProblem(undefined);
    if (!isSearchable(wanted)) return setProblem(`Enter at least ${MIN_SEARCH_CHARS} characters.`);
    try {
      const found = await queries.fetchQuery(users.search(wanted));
      // The user may have typed on.
      if (newest.current.text !== text) return;
      const result = resolveUser(wanted, found);
      if ('problem' in result) {
        setProblem(result.problem);
        // The list would cover the problem. The user needs it only to choose one of several users.
        if (!result.isAmbiguous) close();
      } else if (accepts(found)) choose(result.user);
      else setProblem('Choose a user from the list, or clear the text.');
    } catch (failure) {
      // Further typing ends the request of the earlier text.
      if (newest.current.text === text) setProblem(messageOf(failure));
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    const { key } = event;
    if (event.nativeEvent.isComposing) return;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      setHighlight(moveHighlight(key, highlight, options.length));
    } else if (key === 'Enter' && text.trim() !== '') {
      // Enter submits the form only when the field is empty.
      event.preventDefault();
      const chosen = highlight === undefined ? undefined : options[highlight];
      if (chosen) choose(chosen);
      else void submit();
    } else if (key === 'Escape' && isOpen) {
      event.preventDefault();
      close();
    }
  }

  return {
    isOpen: isOpen && isSearchable(text),
    isSearching: isFetching,
    options,
    error,
    highlight,
    problem,
    choose,
    onKeyDown,
    onType(value: string) {
      onText(value);
      setOpen(true);
      setHighlight(undefined);
      setProblem(undefined);
    },
    /** A text that is left in the field has to name a user exactly. */
    onBlur() {
      close();
      void submit((found) => exactMatches(text, found).length > 0);
    },
  };
}
