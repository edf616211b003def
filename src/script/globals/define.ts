// Adding properties to built-in objects: not enumerable, and open to be replaced by a script.

type Values = Readonly<Record<PropertyKey, unknown>>;

export function define(target: object, values: Values): void {
  for (const name of Reflect.ownKeys(values)) {
    Object.defineProperty(target, name, {
      value: values[name],
      writable: true,
      configurable: true,
      enumerable: false,
    });
  }
}

/** Leaves alone what Node already has. */
export function defineMissing(target: object, values: Values): void {
  define(target, Object.fromEntries(Object.entries(values).filter(([name]) => !(name in target))));
}

/** A getter that is replaced by its value when it is read for the first time. */
export function defineLazily(target: object, name: string, load: () => unknown): void {
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: false,
    get() {
      const value = load();
      define(target, { [name]: value });
      return value;
    },
    set(value: unknown) {
      define(target, { [name]: value });
    },
  });
}
