// What is said in the place of data: nothing there, still loading, an error. Each says what to do.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Failure } from '../api';

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><p class="empty-title">{title}</p>{children && <div class="faint">{children}</div>}</div>;
}

export function Failed({ failure }: { failure: Failure }) {
  return <div class="notice bad-notice" role="alert"><p>{failure.message}</p></div>;
}

export function Loading({ what }: { what: string }) {
  return <p class="loading faint" role="status">Loading {what} …</p>;
}

/** The data of a page, or what is there in its place. */
export function Await<T>({ loaded, what, children }: { loaded: { data: T | null; failure: Failure | null }; what: string; children: (data: T) => ComponentChildren }) {
  const { data, failure } = loaded;
  return (
    <>
      {failure && <Failed failure={failure} />}
      {data !== null ? children(data) : !failure && <Loading what={what} />}
    </>
  );
}

/** The heading of a page. It gets the focus when the page is shown, as after loading one. */
export function PageTitle({ title, children, tools }: { title: ComponentChildren; children?: ComponentChildren; tools?: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.querySelector('main')?.scrollTo(0, 0);
    heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class="page-title">
      <div><h1 ref={heading} tabIndex={-1}>{title}</h1>{children && <p class="faint">{children}</p>}</div>
      {tools && <div class="tools">{tools}</div>}
    </div>
  );
}
