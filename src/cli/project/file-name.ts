/** Name of the project file, in the folder where commands run. */
export const PROJECT_FILE = "service.yaml";
