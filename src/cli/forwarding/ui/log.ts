/** Limits of the log. Older lines are dropped. */
const MAX_LINES = 2_000;
const MAX_CHARACTERS = 2 * 1024 * 1024;

/** A line of output, which a narrow terminal shows as several, each with sequences for its colors. */
interface LogLine {
  length: number;
  render: (width: number) => string[];
  rendered?: { width: number; lines: string[] };
}

/** The latest output of the programs beside the list. */
export class Log {
  readonly #lines: LogLine[] = [];
  #characters = 0;
  #width = 80;
  /** Lines of the terminal below the visible ones; 0 while it follows new output. */
  #below = 0;
  onChange: () => void = () => {};

  add(length: number, render: LogLine["render"]): void {
    const line = { length, render };
    this.#lines.push(line);
    this.#characters += length;
    while (this.#lines.length > 1 && (this.#lines.length > MAX_LINES || this.#characters > MAX_CHARACTERS)) {
      this.#characters -= this.#lines.shift()!.length;
    }
    if (this.#below > 0) this.#below += this.#rendered(line).length;
    this.onChange();
  }

  /** Number of lines of the terminal below the visible ones. */
  get below(): number {
    return this.#below;
  }

  /** Shows the newest line again, and all that follow. */
  follow(): void {
    this.#below = 0;
  }

  /** Returns the visible lines, or the last ones. */
  window(width: number, height: number, isFollowing: boolean): string[] {
    this.#width = width;
    const end = isFollowing ? 0 : this.#below;
    const shown = this.#last(height + end);
    return shown.slice(0, shown.length - Math.min(end, Math.max(shown.length - height, 0)));
  }

  /** Scrolls towards the end, or with a negative number towards the beginning. */
  scrollBy(lines: number, height: number): void {
    const below = Math.max(this.#below - lines, 0);
    this.#below = Math.min(below, Math.max(this.#last(height + below).length - height, 0));
  }

  /** Returns the last lines of the terminal, oldest first. */
  #last(count: number): string[] {
    const groups: string[][] = [];
    let found = 0;
    for (let at = this.#lines.length - 1; at >= 0 && found < count; at -= 1) {
      const lines = this.#rendered(this.#lines[at]!);
      groups.push(lines);
      found += lines.length;
    }
    const all = groups.reverse().flat();
    return all.slice(Math.max(all.length - count, 0));
  }

  #rendered(line: LogLine): string[] {
    if (line.rendered?.width !== this.#width) {
      line.rendered = { width: this.#width, lines: line.render(this.#width) };
    }
    return line.rendered.lines;
  }
}
