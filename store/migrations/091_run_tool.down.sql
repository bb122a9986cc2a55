alter table runs drop column tool;
