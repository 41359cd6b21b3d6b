/** True in a development build, which has a page of all components. The build inserts it. */
declare const __DEVELOPMENT__: boolean;
